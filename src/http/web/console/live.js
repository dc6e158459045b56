// Changes of the shop's conversations while the console is open.

import { ask } from "./desk.js";
import { Stream } from "../assets/stream.js";

// Changes come in bursts, and one request covers all of them.
const CALM_MS = 300;
const NEWS = ["conversation.changed", "conversation.deleted"];

export class Live {
  #stream;
  #listeners = new Map();
  #changed = new Set();
  #timer;

  /** Calls `onCounts(counts)` with the conversations per status, and `onConnection(up)` when it is lost or restored. */
  constructor({ onCounts, onConnection }) {
    Object.assign(this, { onCounts, onConnection });
    this.#stream = new Stream({
      address: () => "/console/api/events",
      onEvent: ({ type, conversation_id: id }) => NEWS.includes(type) && this.#note(id),
      onConnection: (up) => {
        onConnection(up);
        // Missed changes are not replayed.
        if (up) this.#note(undefined);
      },
      // Detects an expired session.
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
   * Calls `changed(ids)` after changes; `ids` is undefined if anything may have changed. `counts`: whether the listener reads
   * the counts itself. Returns a function that removes the listener.
   */
  listen(changed, { counts = false } = {}) {
    this.#listeners.set(changed, counts);
    return () => this.#listeners.delete(changed);
  }

  /** Takes over the counts of an inbox that was read. */
  counted(counts) {
    this.onCounts(counts);
  }

  #note(id) {
    this.#changed.add(id);
    this.#timer ??= setTimeout(() => this.#notify(), CALM_MS);
  }

  #notify() {
    this.#timer = undefined;
    const ids = this.#changed.has(undefined) ? undefined : [...this.#changed];
    this.#changed.clear();
    for (const changed of this.#listeners.keys()) changed(ids);
    if (![...this.#listeners.values()].includes(true)) this.count();
  }

  /** Reads the counts of all conversations. */
  async count() {
    try {
      this.onCounts((await ask("GET", "/console/api/conversations?limit=1")).counts);
    } catch {
      // The next change counts again.
    }
  }
}
