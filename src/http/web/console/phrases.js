// Texts, numbers and times in the language of the console, which can change while it is open.

import { Words } from "../assets/words.js";

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
// Older times are shown as dates.
const RECENT_DAYS = 7;

export class Phrases extends Words {
  #texts;
  #changed = [];

  constructor(texts, name, language) {
    super(texts, name, language);
    this.#texts = texts;
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
    return new Intl.DateTimeFormat(this.language, { day: "numeric", month: "short", timeZone: "UTC" }).format(new Date(date));
  }

  /** Formats the day `2026-11-22` with its year. */
  date(date) {
    return new Intl.DateTimeFormat(this.language, { dateStyle: "medium", timeZone: "UTC" }).format(new Date(date));
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
    element.title = new Intl.DateTimeFormat(this.language, { dateStyle: "full", timeStyle: "medium" }).format(moment);
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
    const year = moment.getFullYear() === now.getFullYear() ? undefined : "numeric";
    return new Intl.DateTimeFormat(this.language, { day: "numeric", month: "short", year }).format(moment);
  }
}
