// The conversation that this browser holds: who may use it, and every request about it.
//
// A page of our own is let in by a cookie. Inside another site's page cookies do not reach us, so the widget holds its
// token itself.

import { request } from "./request.js";

const RENEW_AT_MOST_MS = 24 * 3600 * 1000;
const RENEW_AFTER_MS = 3600 * 1000;

export class Session {
  #memory;
  #holdsToken;
  #opening;
  #renewal;

  /**
   * `language`: what the conversation is to be held in; without it the first message decides, and `reads()` is the guess.
   * Calls `onRenewed` when the token of open streams has been replaced.
   */
  constructor(memory, { holdsToken, persona, language, reads, onRenewed }) {
    this.#memory = memory;
    this.#holdsToken = holdsToken;
    this.wish = { persona, language };
    Object.assign(this, { reads, onRenewed });
    addEventListener("visibilitychange", () => this.#renewIfDue());
  }

  /** The conversation's id; undefined before the first message. */
  get id() {
    return this.#memory.get("conversation")?.id;
  }

  /** Opens a conversation, if there is none. The same call again, after a failure too, opens no second one. */
  async open() {
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  async #open() {
    if (this.id) return;
    const key = this.#memory.get("opening") ?? crypto.randomUUID();
    this.#memory.set("opening", key);
    const opened = await request("/conversations", {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key, "accept-language": this.reads() },
      body: JSON.stringify(this.wish),
    }).catch((error) => {
      // The key was used for another wish, or opened what has been removed since.
      if (error.code === "invalid_request") this.#memory.set("opening", undefined);
      throw error;
    });
    this.#memory.set("opening", undefined);
    this.#remember(opened.id, opened);
  }

  /** Forgets the conversation: the next `open` begins another one. */
  forget() {
    clearTimeout(this.#renewal);
    for (const name of ["conversation", "opening"]) this.#memory.set(name, undefined);
  }

  /** Goes on with the conversation that another page of ours left. */
  resume() {
    this.#renewIfDue();
  }

  /** Every message, oldest first, and the event from which to go on reading. */
  async history() {
    let page;
    const read = [];
    let first;
    do {
      page = await this.#ask("GET", `history?limit=200${page ? `&after=${page.next}` : ""}`);
      // Where the first page ends is certain to be read; a turn that ends meanwhile comes again as events.
      first ??= page;
      read.push(...page.messages);
    } while (page.next);
    return { conversation: first.conversation, messages: read, lastEventId: first.last_event_id };
  }

  /** Asks whether the conversation is there: a refusal says that it is not. */
  look() {
    return request(`/conversations/${this.id}`, { headers: this.#bearer() });
  }

  /** Says `text`. The same key again says it once. Gives the message's id and turn. */
  say(text, key) {
    return this.#ask("POST", "messages", { text }, key);
  }

  /** Stops a turn. */
  cancel(turn) {
    return this.#ask("POST", `turns/${turn}/cancel`);
  }

  /** The address of the conversation's events behind the event `after`. */
  eventsAddress(after) {
    const query = new URLSearchParams({ last_event_id: after });
    // An EventSource can send no header.
    if (this.#holdsToken) query.set("token", this.#memory.get("conversation")?.token ?? "");
    return `/conversations/${this.id}/events?${query}`;
  }

  #ask(method, path, body, key) {
    const headers = this.#bearer();
    if (body) headers["content-type"] = "application/json";
    if (key) headers["idempotency-key"] = key;
    return request(`/conversations/${this.id}/${path}`, { method, headers, body: body && JSON.stringify(body) });
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

  // Renewed an hour after it was given, or at half of its life if that is sooner.
  #renewIfDue() {
    clearTimeout(this.#renewal);
    const held = this.#memory.get("conversation");
    if (!held || held.final) return;
    const due = held.since + Math.min(RENEW_AFTER_MS, (held.expires - held.since) / 2);
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
      // Too old for another token: the one it has is the last.
      if (error.code === "invalid_request") this.#memory.set("conversation", { ...held, final: true });
      else this.#renewal = setTimeout(() => this.#renewIfDue(), 60_000);
    }
  }
}
