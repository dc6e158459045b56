// The panel of the conversation's desk: names and values.

import { ask, words } from "./desk.js";
import { attempt, labelled, row } from "./parts.js";
import { element } from "../assets/render.js";

/** Returns a row with the text of its name, if there is one. */
function labelledRow({ name, value }) {
  const key = `panel.${name}`;
  return row(words.has(key) ? key : undefined, value, name);
}

export class Panel {
  #path;
  #absent = false;
  element = element("dl", { class: "panel", hidden: true });

  constructor(conversation) {
    this.#path = `/console/api/conversations/${encodeURIComponent(conversation)}`;
  }

  /** Returns the row of the customer's tags, which stores them when they change. */
  #tagsRow({ name, value }) {
    const input = labelled(element("input", { value, "data-tags": "" }), "panel.tags_hint", "placeholder");
    labelled(input, "panel.tags");
    const said = element("div");
    const store = () => ask("PUT", `${this.#path}/tags`, { tags: input.value.split(",") });
    input.addEventListener("change", () => attempt(input, said, store));
    return row(`panel.${name}`, element("div", {}, input, said));
  }

  /** Reads the rows again, unless the desk has no panel. After a failure the rows stay. */
  async read() {
    if (this.#absent || document.hidden) return;
    const panel = await ask("GET", `${this.#path}/panel`).catch(() => undefined);
    // What is being typed stays.
    if (!panel || this.element.contains(document.activeElement)) return;
    const rows = panel.rows ?? [];
    this.#absent = !panel.rows;
    this.element.replaceChildren(...rows.map((of) => (of.name === "tags" ? this.#tagsRow(of) : labelledRow(of))));
    this.element.hidden = !rows.length;
  }
}
