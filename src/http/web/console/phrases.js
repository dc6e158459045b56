// Texts, numbers and times in the language of the console, which can change while it is open.

import { Words } from "../assets/words.js";

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
// Older times are shown as dates.
const RECENT_DAYS = 7;

// The known codes of `date_format` in `texts/common.LANG.toml`. Names of months are English ones.
const twoDigits = (number) => String(number).padStart(2, "0");
const DATE_CODES = {
  "%Y": (day) => day.getUTCFullYear(),
  "%-m": (day) => day.getUTCMonth() + 1,
  "%b": (day) => new Intl.DateTimeFormat("en-US", { month: "short", timeZone: "UTC" }).format(day),
  "%-d": (day) => day.getUTCDate(),
  "%m": (day) => twoDigits(day.getUTCMonth() + 1),
  "%d": (day) => twoDigits(day.getUTCDate()),
};
const CODE = /%-?[A-Za-z]/g;

const localDay = (moment) => new Date(Date.UTC(moment.getFullYear(), moment.getMonth(), moment.getDate()));

export class Phrases extends Words {
  #texts;
  #dateFormats;
  #changed = [];

  /** `dateFormats`: how the chat writes dates, by language. */
  constructor(texts, name, language, dateFormats) {
    super(texts, name, language);
    this.#texts = texts;
    this.#dateFormats = dateFormats;
    this.languages = Object.keys(texts);
    setInterval(() => {
      this.#forget();
      this.#writeTimes(document);
    }, 30_000);
  }

  /** Calls `changed()` after a change of language, while `root` is on the page. */
  onChange(root, changed) {
    this.#changed.push({ root, changed });
  }

  use(language) {
    super.use(language);
    this.#forget();
    for (const { changed } of this.#changed) changed();
  }

  // Forgets views that were left.
  #forget() {
    this.#changed = this.#changed.filter(({ root }) => root.isConnected);
  }

  // A key with the suffix `_one` is the singular.
  say(key, values = {}) {
    const one = `${key}_one`;
    const isOne = values.count === 1 && this.#texts[this.language][one];
    const shown = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === "number" ? this.number(value) : value]));
    return super.say(isOne ? one : key, shown);
  }

  /** Returns whether `key` has a text. */
  has(key) {
    return this.#texts[this.language][key] !== undefined;
  }

  write(root) {
    super.write(root);
    this.#writeTimes(root);
  }

  number(value) {
    return new Intl.NumberFormat(this.language, { maximumFractionDigits: 2 }).format(value);
  }

  /** Formats a share between 0 and 1. */
  percent(share) {
    return new Intl.NumberFormat(this.language, { style: "percent", maximumFractionDigits: 0 }).format(share);
  }

  /** Formats an amount in minor units of its currency. */
  money({ minor, currency }) {
    const format = new Intl.NumberFormat(this.language, { style: "currency", currency });
    return format.format(minor / 10 ** format.resolvedOptions().maximumFractionDigits);
  }

  /** Formats milliseconds in a suitable unit. */
  duration(milliseconds) {
    const format = (value, digits, unit) => `${new Intl.NumberFormat(this.language, { maximumFractionDigits: digits }).format(value)} ${unit}`;
    return milliseconds < 1000 ? format(milliseconds, 0, "ms") : format(milliseconds / 1000, 1, "s");
  }

  /** Formats the day `2026-11-22` without its year. */
  day(date) {
    const format = this.#dateFormat()?.replace(/[^%\w]*%Y/, "").replace(/^[^%\w]+/, "");
    return this.#dated(new Date(date), format, { day: "numeric", month: "short" });
  }

  /** Formats the day `2026-11-22` with its year. */
  date(date) {
    return this.#dated(new Date(date), this.#dateFormat(), { dateStyle: "medium" });
  }

  // Returns the format of this language, unless it has codes that are unknown here.
  #dateFormat() {
    const format = this.#dateFormats[this.language];
    return format?.match(CODE)?.every((code) => DATE_CODES[code]) ? format : undefined;
  }

  #dated(day, format, options) {
    if (format) return format.replace(CODE, (code) => DATE_CODES[code](day));
    return new Intl.DateTimeFormat(this.language, { ...options, timeZone: "UTC" }).format(day);
  }

  /** Returns an element that shows how long ago it was, with the exact time as its title. */
  time(moment, attributes = {}) {
    const made = document.createElement("time");
    made.setAttribute("datetime", moment);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    this.#writeTime(made);
    return made;
  }

  #writeTimes(root) {
    for (const time of root.querySelectorAll("time[datetime]")) this.#writeTime(time);
  }

  #writeTime(element) {
    const moment = new Date(element.getAttribute("datetime"));
    const isElapsed = element.hasAttribute("data-elapsed");
    const text = isElapsed ? this.elapsed(moment, new Date()) : this.ago(moment, new Date());
    if (element.textContent !== text) element.textContent = text;
    const hour = new Intl.DateTimeFormat(this.language, { timeStyle: "medium" }).format(moment);
    element.title = `${this.date(localDay(moment))}, ${hour}`;
  }

  /** Formats the time between `moment` and `now`. */
  elapsed(moment, now) {
    const seconds = Math.max(0, (now - moment) / 1000);
    const format = (value, unit) => new Intl.NumberFormat(this.language, { style: "unit", unit, unitDisplay: "short" }).format(Math.floor(value));
    if (seconds < HOUR) return format(Math.max(1, seconds / MINUTE), "minute");
    return seconds < DAY ? format(seconds / HOUR, "hour") : format(seconds / DAY, "day");
  }

  /** Formats how long before `now` it was, or the date after a week. */
  ago(moment, now) {
    const seconds = Math.max(0, (now - moment) / 1000);
    if (seconds < MINUTE) return this.say("time.now");
    const relative = new Intl.RelativeTimeFormat(this.language, { numeric: "auto", style: "short" });
    if (seconds < HOUR) return relative.format(-Math.floor(seconds / MINUTE), "minute");
    if (seconds < DAY) return relative.format(-Math.floor(seconds / HOUR), "hour");
    if (seconds < RECENT_DAYS * DAY) return relative.format(-Math.floor(seconds / DAY), "day");
    const day = localDay(moment);
    return moment.getFullYear() === now.getFullYear() ? this.day(day) : this.date(day);
  }
}
