// The browser's conversation: its token and every request about it.
//
// Our own pages authenticate with a cookie. In a frame of another site cookies are not sent, so the widget stores the token.

import { newKey, readHistory, request } from "./request.js";

const RENEW_AT_MOST_MS = 24 * 3600 * 1000;
const RENEW_AFTER_MS = 3600 * 1000;
const RENEW_NOT_BEFORE_MS = 60_000;
const PATIENCE_MS = 30_000;

export class Session {
  #memory;
  #holdsToken;
  #opening;
  #renewal;

  /**
   * `language`: the language of the conversation. Without it, the first messages decide, and `reads()` is the guess.
   * Calls `onRenewed` when open streams need the new token.
   */
  constructor(memory, { holdsToken, persona, language, reads, onRenewed }) {
    this.#memory = memory;
    this.#holdsToken = holdsToken;
    this.wish = { persona, language };
    Object.assign(this, { reads, onRenewed });
    addEventListener("visibilitychange", () => this.#renewIfDue());
  }

  /** Returns the conversation's id, or undefined before the first message. */
  get id() {
    return this.#memory.get("conversation")?.id;
  }

  /** Opens a conversation if there is none. Idempotent, also after a failure. */
  async open() {
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  async #open() {
    if (this.id) return;
    const key = this.#memory.get("opening") ?? newKey();
    this.#memory.set("opening", key);
    const opened = await inTime("/conversations", {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key, "accept-language": this.reads() },
      body: JSON.stringify(this.wish),
    }).catch((error) => {
      // The key was used for another request, or its conversation was deleted.
      if (error.code === "invalid_request") this.#memory.set("opening", undefined);
      throw error;
    });
    // Forgotten in the meantime.
    if (this.#memory.get("opening") !== key) return;
    this.#memory.set("opening", undefined);
    this.#remember(opened.id, opened);
  }

  /** Forgets the conversation. The next `open` creates another one. */
  forget() {
    clearTimeout(this.#renewal);
    for (const name of ["conversation", "opening"]) this.#memory.set(name, undefined);
  }

  /** Resumes the stored conversation. */
  resume() {
    this.#renewIfDue();
  }

  /** Returns every message, oldest first, and the event to resume after. */
  history() {
    return readHistory((path) => this.#ask("GET", path));
  }

  /** Checks that the conversation exists; throws a Refusal if not. */
  check() {
    return inTime(`/conversations/${this.id}`, { headers: this.#bearer() });
  }

  /** Sends `text`, once per key. Returns the message's id and turn. */
  send(text, key) {
    return this.#ask("POST", "messages", { text }, key);
  }

  /** Cancels a turn. */
  cancel(turn) {
    return this.#ask("POST", `turns/${turn}/cancel`);
  }

  /** Returns the address of the conversation's events after the event `after`. */
  eventsAddress(after) {
    const query = new URLSearchParams({ last_event_id: after });
    // An EventSource cannot send headers.
    if (this.#holdsToken) query.set("token", this.#memory.get("conversation")?.token ?? "");
    return `/conversations/${this.id}/events?${query}`;
  }

  #ask(method, path, body, key) {
    const headers = this.#bearer();
    if (body) headers["content-type"] = "application/json";
    if (key) headers["idempotency-key"] = key;
    return inTime(`/conversations/${this.id}/${path}`, { method, headers, body: body && JSON.stringify(body) });
  }

  #bearer() {
    const token = this.#holdsToken && this.#memory.get("conversation")?.token;
    return token ? { authorization: `Bearer ${token}` } : {};
  }

  #remember(id, { token, token_expires_at }) {
    const expires = Date.parse(token_expires_at);
    const held = { id, expires, since: Date.now() };
    if (this.#holdsToken) held.token = token;
    this.#memory.set("conversation", held);
    this.#renewIfDue();
  }

  // Renews the token an hour after it was issued, or after half of its life if that is sooner. If the customer's clock is ahead,
  // a new token seems to have expired.
  #renewIfDue() {
    clearTimeout(this.#renewal);
    const held = this.#memory.get("conversation");
    if (!held || held.final) return;
    const due = held.since + Math.max(RENEW_NOT_BEFORE_MS, Math.min(RENEW_AFTER_MS, (held.expires - held.since) / 2));
    const wait = Math.min(due - Date.now(), RENEW_AT_MOST_MS);
    if (wait > 0) this.#renewal = setTimeout(() => this.#renewIfDue(), wait);
    else this.#renew(held);
  }

  async #renew(held) {
    try {
      const renewed = await this.#ask("POST", "token");
      if (this.id !== held.id) return;
      this.#remember(held.id, renewed);
      this.onRenewed();
    } catch (error) {
      // The conversation is too old for another token.
      if (error.code === "invalid_request") this.#memory.set("conversation", { ...held, final: true });
      else this.#renewal = setTimeout(() => this.#renewIfDue(), 60_000);
    }
  }
}

// A request without an answer would block all later messages. Older browsers have no `AbortSignal.timeout`.
const inTime = (path, options) => request(path, { ...options, signal: AbortSignal.timeout?.(PATIENCE_MS) });
