// Pieces that every view is made of. Whatever says words says them in the language of the moment.

import { element } from "../assets/elements.js";
import { Refusal } from "../assets/request.js";
import { words } from "./desk.js";

/** An element that says `key`. */
export function said(tag, key, values, attributes = {}) {
  const made = element(tag, attributes);
  words.put(made, key, values);
  return made;
}

/** A button that says `key`. */
export function button(key, press, { values, ...attributes } = {}) {
  const made = said("button", key, values, { type: "button", class: "button", ...attributes });
  made.addEventListener("click", press);
  return made;
}

/** The same for an attribute of an element: `label` or `placeholder`. Its values are those of the element's own words. */
export function labelled(made, key, place = "label") {
  const values = JSON.parse(made.getAttribute("data-words-values") ?? "{}");
  made.setAttribute(`data-words-${place}`, key);
  made.setAttribute(place === "label" ? "aria-label" : place, words.say(key, values));
  return made;
}

/** A small word about something, such as a status. */
export const badge = (key, kind) => said("span", key, undefined, { class: `badge ${kind}` });

/** Nothing is here: why, and what to do next. */
export function empty(title, hint, ...more) {
  return element("div", { class: "empty" }, said("p", title, undefined, { class: "empty-title" }), said("p", hint), ...more);
}

/** Something is on its way; shown only if that takes a while. */
export const loading = () => element("div", { class: "loading", role: "status" }, said("span", "loading"));

/** What went wrong and what to do about it, with a button to try again where there is something to try. */
export function failure(error, again) {
  const { key, values } = trouble(error);
  const made = element("div", { class: "failure", role: "alert" }, said("p", key, values));
  if (again) made.append(button("again", again));
  return made;
}

/** The words for an error. */
export function trouble(error) {
  if (!(error instanceof Refusal)) return { key: "trouble.unreachable" };
  const values = { seconds: error.retryAfter, detail: error.detail ?? "", request: error.request ?? "" };
  // What is shown was not the newest any more.
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
  const isOurs = error.status >= 500 && (error.code === "internal" || !error.detail);
  return { key: isOurs ? "trouble.internal" : "trouble.refused", values };
}

/** Shows in `place` what `load` gives, as elements; a failure can be tried again. The last call wins. */
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

/** Does `work` while the button is off; a failure is said in `place`. Gives whether it went well. */
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

/** A button that is off keeps the focus, unlike a disabled one. */
export function enable(pressed, on) {
  pressed.setAttribute("aria-disabled", String(!on));
}

/** A dialog with a title, shown at once and gone when it is closed. */
export function dialog(title, values, ...content) {
  const heading = said("h2", title, values, { id: "dialog-title" });
  const made = element("dialog", { "aria-labelledby": "dialog-title" }, heading, ...content);
  made.addEventListener("close", () => made.remove());
  document.body.append(made);
  made.showModal();
  return made;
}

/** A field with its label, and perhaps a hint. */
export function field(key, input, hint) {
  const label = element("label", { class: "field" }, said("span", key), input);
  if (hint) label.append(said("small", hint));
  return label;
}

/** A list to choose one of; `option(value)` gives the name of each and the key of its words. */
export function choice(label, values, option) {
  const made = labelled(element("select"), label);
  for (const value of values) {
    const [name, key] = option(value);
    made.append(said("option", key, undefined, { value: name }));
  }
  return made;
}

/** A view's head: its title, one line about it, and what can be done there. */
export function head(title, about, ...actions) {
  const heading = said("h1", title, undefined, { tabindex: "-1" });
  return element("header", { class: "head" }, element("div", {}, heading, said("p", about)), ...actions);
}
