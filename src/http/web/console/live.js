// What changes in the shop's conversations, while the console is open.

import { ask } from "./desk.js";
import { Stream } from "../assets/stream.js";

// Changes come in bursts: one look at the inbox answers for all of them.
const CALM_MS = 300;
const NEWS = ["conversation.changed", "conversation.deleted"];

export class Live {
  #stream;
  #listeners = new Map();
  #changed = new Set();
  #timer;

  /** Calls `onCounts(counts)` with the number of conversations of each status, `onConnection(up)` when it is lost or back. */
  constructor({ onCounts, onConnection }) {
    Object.assign(this, { onCounts, onConnection });
    this.#stream = new Stream({
      address: () => "/console/api/events",
      onEvent: ({ type, conversation_id: id }) => NEWS.includes(type) && this.#note(id),
      onConnection: (up) => {
        onConnection(up);
        // What happened meanwhile is not told.
        if (up) this.#note(undefined);
      },
      // A session that has ended shows itself here.
      onRefused: () => ask("GET", "/console/api/me").then(() => true, (error) => error.status !== 401),
    });
  }

  open() {
    this.#stream.open("");
  }

  close() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stream.close();
  }

  /**
   * Calls `changed(ids)` after changes; `ids` is undefined where anything may have changed. `counts`: whether that reads the
   * counts too. Gives what ends it.
   */
  listen(changed, { counts = false } = {}) {
    this.#listeners.set(changed, counts);
    return () => this.#listeners.delete(changed);
  }

  /** The inbox has been read anyway, with these counts. */
  counted(counts) {
    this.onCounts(counts);
  }

  #note(id) {
    this.#changed.add(id);
    this.#timer ??= setTimeout(() => this.#tell(), CALM_MS);
  }

  #tell() {
    this.#timer = undefined;
    const ids = this.#changed.has(undefined) ? undefined : [...this.#changed];
    this.#changed.clear();
    for (const changed of this.#listeners.keys()) changed(ids);
    if (![...this.#listeners.values()].includes(true)) this.#count();
  }

  async #count() {
    try {
      this.onCounts((await ask("GET", "/console/api/conversations?limit=1")).counts);
    } catch {
      // The next change counts again.
    }
  }
}
