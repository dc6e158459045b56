// Messages that the server has not acknowledged. Each has an idempotency key, so that it is stored once however often it is
// sent. Messages and keys survive a reload.

import { Refusal, newKey } from "./request.js";

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 10_000;
const LONGEST_COUNTDOWN_S = 120;

// Characters that the server removes from messages (`domain::text::clean`). Events identify a message by its text.
const UNWANTED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

export class Outbox {
  #memory;
  #waiting = [];
  // The keys of this page. Other stored keys belong to other tabs.
  #known = new Set();
  #busy = false;
  #timer;
  #wait = FIRST_WAIT_MS;

  /**
   * `deliver(text, key)` sends a message. Calls `onState(entry)` when an entry's `state` changes: `sending`, `later` (no
   * connection; it is retried), `waiting` (retried after `seconds`), `refused` (with the `refusal`; the customer may retry) or
   * `sent` (with the `answer`).
   */
  constructor(memory, { deliver, onState }) {
    this.#memory = memory;
    Object.assign(this, { deliver, onState });
    addEventListener("online", () => this.wake());
  }

  /** Sends the messages that an earlier page left unsent. */
  resume() {
    for (const { text, key } of this.#memory.get("outbox") ?? []) this.#put({ text, key });
  }

  /** Sends `text`, once. */
  add(text) {
    this.#put({ text: text.replace(UNWANTED, ""), key: newKey() });
  }

  /** Retries a refused entry with its key. */
  again(entry) {
    if (!this.#waiting.includes(entry)) return;
    entry.state = "sending";
    this.onState(entry);
    this.wake();
  }

  /** Retries now instead of waiting for the timer. */
  wake() {
    clearTimeout(this.#timer);
    this.#run();
  }

  /** Removes an entry that the server has stored, whatever its last response was. */
  drop(entry) {
    this.#waiting = this.#waiting.filter((other) => other !== entry);
    this.#wait = FIRST_WAIT_MS;
    this.#keep();
    this.wake();
  }

  /** Returns whether the message with this key is still to be sent. */
  holds(key) {
    return this.#waiting.some((entry) => entry.key === key);
  }

  /** Discards all unsent messages, also those of other tabs. */
  clear() {
    clearTimeout(this.#timer);
    this.#waiting = [];
    this.#memory.set("outbox", undefined);
  }

  #put(entry) {
    entry.state = "sending";
    this.#waiting.push(entry);
    this.#known.add(entry.key);
    this.#keep();
    this.onState(entry);
    this.#run();
  }

  #keep() {
    const others = (this.#memory.get("outbox") ?? []).filter(({ key }) => !this.#known.has(key));
    const kept = [...others, ...this.#waiting.map(({ text, key }) => ({ text, key }))];
    this.#memory.set("outbox", kept.length ? kept : undefined);
  }

  // Sends one message at a time, so that turns keep their order.
  async #run() {
    if (this.#busy) return;
    this.#busy = true;
    try {
      let entry;
      while ((entry = this.#waiting.find(({ state }) => state !== "refused"))) {
        if (entry.state === "waiting" || !(await this.#send(entry))) break;
      }
    } finally {
      this.#busy = false;
    }
  }

  async #send(entry) {
    try {
      const answer = await this.deliver(entry.text, entry.key);
      // Discarded or dropped in the meantime.
      if (!this.#waiting.includes(entry)) return true;
      this.drop(entry);
      this.#become(entry, "sent", { answer });
      return true;
    } catch (error) {
      if (!this.#waiting.includes(entry)) return true;
      if (isForNow(error)) {
        this.#countDown(entry, error, error.retryAfter);
        return false;
      }
      if (error instanceof Refusal && !isPassing(error)) {
        this.#become(entry, "refused", { refusal: error });
        return true;
      }
      this.#become(entry, "later");
      this.#timer = setTimeout(() => this.#run(), this.#wait);
      this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
      return false;
    }
  }

  #countDown(entry, refusal, seconds) {
    if (!this.#waiting.includes(entry)) return;
    if (seconds <= 0) {
      entry.state = "sending";
      this.onState(entry);
      this.#run();
      return;
    }
    this.#become(entry, "waiting", { refusal, seconds });
    setTimeout(() => this.#countDown(entry, refusal, seconds - 1), 1000);
  }

  #become(entry, state, more = {}) {
    Object.assign(entry, { state, ...more });
    this.onState(entry);
  }
}

// Too many messages or customers. A limit per day is not waited for.
const isForNow = ({ status, code, retryAfter }) => (status === 429 || code === "overloaded") && retryAfter <= LONGEST_COUNTDOWN_S;

// The server restarts, its store does not respond, or it is still handling the first request with this key.
const isPassing = ({ code }) => ["draining", "unavailable", "conflict"].includes(code);
