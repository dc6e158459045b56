// The panel of the conversation's desk: names and values.

import { ask } from "./desk.js";
import { row } from "./parts.js";
import { element } from "../assets/render.js";

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
    this.element.replaceChildren(...rows.map(({ name, value }) => row(undefined, value, name)));
    this.element.hidden = !rows.length;
  }
}
