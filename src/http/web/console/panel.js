// The panel of the conversation's desk: names and values.

import { ask, words } from "./desk.js";
import { row } from "./parts.js";
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
    this.#path = `/console/api/conversations/${encodeURIComponent(conversation)}/panel`;
  }

  /** Reads the rows again, unless the desk has no panel. After a failure the rows stay. */
  async read() {
    if (this.#absent || document.hidden) return;
    const panel = await ask("GET", this.#path).catch(() => undefined);
    if (!panel) return;
    const rows = panel.rows ?? [];
    this.#absent = !panel.rows;
    this.element.replaceChildren(...rows.map(labelledRow));
    this.element.hidden = !rows.length;
  }
}
