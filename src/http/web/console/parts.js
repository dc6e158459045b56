// Building blocks of the views. Their texts follow the language of the console.

import { words } from "./desk.js";
import { element } from "../assets/render.js";
import { Refusal } from "../assets/request.js";

/** Returns an element with the text of `key`. */
export function textElement(tag, key, values, attributes = {}) {
  const made = element(tag, attributes);
  words.put(made, key, values);
  return made;
}

/** Returns a button with the text of `key`. */
export function button(key, press, { values, ...attributes } = {}) {
  const made = textElement("button", key, values, { type: "button", class: "button", ...attributes });
  made.addEventListener("click", press);
  return made;
}

/** Sets an element's `label` or `placeholder` to the text of `key`, with the values of its content. */
export function labelled(made, key, place = "label") {
  const values = JSON.parse(made.getAttribute("data-words-values") ?? "{}");
  made.setAttribute(`data-words-${place}`, key);
  made.setAttribute(place === "label" ? "aria-label" : place, words.say(key, values));
  return made;
}

/** Returns a badge, for example for a status. */
export const badge = (key, kind) => textElement("span", key, undefined, { class: `badge ${kind}` });

/** Returns a notice for an empty list: why, and what to do next. */
export function empty(title, hint, ...more) {
  return element("div", { class: "empty" }, textElement("p", title, undefined, { class: "empty-title" }), textElement("p", hint), ...more);
}

/** Returns a loading notice, which appears only after a delay. */
export const loading = () => element("div", { class: "loading", role: "status" }, textElement("span", "loading"));

/** Returns an error notice, with a retry button if `again` is given. */
export function failure(error, again) {
  const { key, values } = trouble(error);
  const made = element("div", { class: "failure", role: "alert" }, textElement("p", key, values));
  if (again) made.append(button("again", again));
  return made;
}

/** Returns a problem in the words of `key`, or else in those of the server, which are English. */
export function problem(key, said, values = {}) {
  if (words.has(key)) return textElement("span", key, { detail: said, ...values });
  return element("span", { lang: "en", dir: "auto" }, said);
}

/** Returns the text key and values for an error. */
function trouble(error) {
  if (!(error instanceof Refusal)) return { key: "trouble.unreachable" };
  const { retryAfter: seconds, request_id: request = "", detail = "", line, limit: bytes } = error;
  const size = bytes % 1048576 ? `${Math.floor(bytes / 1024)} KiB` : `${bytes / 1048576} MB`;
  const values = { seconds, detail, request, limit: bytes ? size : "–", n: String(line) };
  // The page showed an outdated state.
  if (["illegal_step", "already_resolved"].includes(error.code)) return { key: "trouble.overtaken", values };
  const key = {
    401: "trouble.signed_out",
    403: "trouble.foreign",
    404: "trouble.gone",
    413: "trouble.too_large",
    429: "trouble.too_fast",
    503: "trouble.busy",
  }[error.status];
  if (key) return { key, values };
  const own = [`file_problem.${error.reason}`, `refusal.${error.code}`].find((known) => words.has(known));
  if (own) return { key: own, values };
  const isOurs = error.status >= 500 && (error.code === "internal" || !error.detail);
  return { key: isOurs ? "trouble.internal" : "trouble.refused", values };
}

/** Shows the elements from `load` in `place`, or an error notice with a retry button. The last call wins. */
export async function fill(place, load) {
  const mine = {};
  place.filling = mine;
  place.setAttribute("aria-busy", "true");
  if (!place.childElementCount || place.querySelector(":scope > .failure")) place.replaceChildren(loading());
  try {
    const content = await load();
    if (place.filling === mine) place.replaceChildren(...content);
  } catch (error) {
    if (place.filling === mine) place.replaceChildren(failure(error, () => fill(place, load)));
  }
  if (place.filling === mine) place.removeAttribute("aria-busy");
}

/** Runs `work` with the button disabled and shows an error in `place`. Returns whether it succeeded. */
export async function attempt(pressed, place, work) {
  if (pressed.getAttribute("aria-disabled") === "true") return false;
  enable(pressed, false);
  place.replaceChildren();
  try {
    await work();
    return true;
  } catch (error) {
    place.replaceChildren(failure(error));
    return false;
  } finally {
    enable(pressed, true);
  }
}

/** Enables or disables a button by `aria-disabled`, which keeps the focus. */
export function enable(pressed, on) {
  pressed.setAttribute("aria-disabled", String(!on));
}

/** Opens a dialog, which is removed when it closes. */
export function dialog(title, values, ...content) {
  const heading = textElement("h2", title, values, { id: "dialog-title" });
  const made = element("dialog", { "aria-labelledby": "dialog-title" }, heading, ...content);
  made.addEventListener("close", () => made.remove());
  document.body.append(made);
  made.showModal();
  return made;
}

/** Returns a field with its label and an optional hint. */
export function field(key, input, hint) {
  const label = element("label", { class: "field" }, textElement("span", key), input);
  if (hint) label.append(textElement("small", hint));
  return label;
}

/** Returns a select element. `option(value)` returns the name of an option and its text key. */
export function choice(label, values, option) {
  const made = labelled(element("select"), label);
  for (const value of values) {
    const [name, key] = option(value);
    made.append(textElement("option", key, undefined, { value: name }));
  }
  return made;
}

/** Returns the head of a view: its title, a description and actions. */
export function head(title, about, ...actions) {
  const heading = textElement("h1", title, undefined, { tabindex: "-1" });
  return element("header", { class: "head" }, element("div", {}, heading, textElement("p", about)), ...actions);
}

/** Returns a table, with a button that adds the next page while there is one. `read(after)` returns its `rows` and `next`. */
export function pages(heads, first, next, read) {
  const rows = element("tbody", {}, ...first);
  const named = heads.map((key) => textElement("th", key, undefined, { scope: "col" }));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...named)), rows);
  const parts = [element("div", { class: "wide card", tabindex: "0" }, table)];
  if (next) parts.push(more(next, rows, read));
  return parts;
}

function more(next, rows, read) {
  const place = element("div");
  let after = next;
  const pressed = button("inbox.more", () =>
    fill(place, async () => {
      const page = await read(after);
      rows.append(...page.rows);
      after = page.next;
      pressed.hidden = !after;
      return [];
    }),
  );
  return element("div", {}, pressed, place);
}

/** Returns rows of facts under a title, or undefined without rows. */
export function section(title, rows, values) {
  return rows.length ? element("section", {}, textElement("h2", title, values), element("dl", {}, ...rows)) : undefined;
}

/** Returns one row, named by the text of `key` or by `name`. */
export function row(key, value, name) {
  const term = key ? textElement("dt", key) : element("dt", {}, name);
  return element("div", {}, term, element("dd", { dir: "auto" }, value));
}

/** Returns the text for a value of the server, or `plain` if there is none. */
export function word(group, value, plain = value) {
  const key = `${group}.${value}`;
  return words.has(key) ? textElement("span", key) : element("span", {}, String(plain));
}

/** Returns a bar for a share between 0 and 1, with a text. */
export function bar(share, text) {
  const filled = element("span", { class: "filled" });
  filled.style.inlineSize = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return element("span", { class: "bar" }, element("span", { class: "track", "aria-hidden": "true" }, filled), element("span", { class: "bar-text" }, text));
}

const SVG = "http://www.w3.org/2000/svg";

/** Returns an SVG element with the given attributes and children. */
export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Returns a decorative icon. */
export const icon = (path) => svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", class: "drawn" }, svg("path", { d: path }));
