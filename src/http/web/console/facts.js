// Facts in rows: a name, and what is known under it.

import { element } from "../assets/elements.js";
import { said } from "./parts.js";
import { words } from "./desk.js";

/** Rows under a title, which may have `values`; nothing where there are none. */
export function section(title, rows, values) {
  return rows.length ? element("section", {}, said("h2", title, values), element("dl", {}, ...rows)) : undefined;
}

/** One row. `name` is shown instead of the words of `key`, where those are not known before. */
export function row(key, value, name) {
  const term = key ? said("dt", key) : element("dt", {}, name);
  return element("div", {}, term, element("dd", { dir: "auto" }, value));
}

/** The words for one of a few values of the server's, else `plain`: the value itself. */
export function word(group, value, plain = value) {
  const key = `${group}.${value}`;
  return words.has(key) ? said("span", key) : element("span", {}, String(plain));
}

/** A share of 1 as a bar, with its text. */
export function bar(share, text) {
  const filled = element("span", { class: "filled" });
  filled.style.inlineSize = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return element("span", { class: "bar" }, element("span", { class: "track", "aria-hidden": "true" }, filled), element("span", { class: "bar-text" }, text));
}
