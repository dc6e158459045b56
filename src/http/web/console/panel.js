// What the conversation's desk shows next to it: names and values, as the desk gives them.

import { ask } from "./desk.js";
import { row } from "./parts.js";
import { element } from "../assets/render.js";

export class Panel {
  #path;
  #absent = false;
  element = element("dl", { class: "returns-body", hidden: true });

  constructor(conversation) {
    this.#path = `/console/api/conversations/${encodeURIComponent(conversation)}/panel`;
  }

  /** Reads the rows again, unless the desk has no panel. A panel that cannot be read stays as it is. */
  async read() {
    if (this.#absent || document.hidden) return;
    const panel = await ask("GET", this.#path).catch(() => undefined);
    if (!panel) return;
    const rows = panel.rows ?? [];
    this.#absent = !panel.rows;
    this.element.replaceChildren(...rows.map(({ name, value }) => row(undefined, value, name)));
    this.element.hidden = !rows.length;
  }
}
