// The messages of a conversation by turn. They come from the history and from the events after it, and the two overlap.
// Messages that are shown keep their place.

import { allow, session, words } from "./desk.js";
import { allowWeb, closed, parse } from "../assets/markup.js";
import { button, textElement } from "./parts.js";
import { receipt, wrong } from "./receipt.js";
import { element, render } from "../assets/render.js";

// Kinds of messages without a receipt.
const ASIDES = ["greeting", "cute_greeting", "follow_up"];
const ENDS = ["cancelled", "failed", "interrupted"];

export class Thread {
  #conversation;
  #turns = new Map();
  #messages = new Map();
  #running;
  #typing = textElement("p", "conversation.typing", undefined, { class: "typing" });

  constructor(conversation) {
    this.#conversation = conversation;
    this.element = element("div", { class: "thread" });
  }

  /** Shows these messages of the history. */
  show(messages) {
    // The events repeat a running turn from its start.
    this.#run(undefined);
    for (const [id, shown] of this.#messages) {
      if (!shown.isGrowing) continue;
      shown.element.remove();
      this.#messages.delete(id);
    }
    this.explain(messages);
  }

  /** Completes these messages from the history, including receipts. */
  explain(messages) {
    for (const message of messages) {
      const shown = this.#messages.get(message.id) ?? this.#add(message);
      shown.complete(message);
    }
  }

  /** Returns the amount of text. */
  get length() {
    return [...this.#messages.values()].reduce((sum, { text, explained }) => sum + text.length + Boolean(explained), 0);
  }

  /** Returns the element of a turn. */
  find(turn) {
    return this.#turns.get(turn);
  }

  /** Handles an event of the conversation. */
  onEvent(event) {
    switch (event.type) {
      case "turn.start":
        return this.#start(event);
      case "message.start":
        return this.#begin(event);
      case "delta":
        return this.#messages.get(event.message_id)?.grow(event.text);
      case "message.end":
        return this.#messages.get(event.message_id)?.end(event.metadata);
      case "error":
        return this.#running?.append(element("p", { class: "note trouble", dir: "auto" }, event.message));
      case "turn.done":
        return this.#done(event);
    }
  }

  #start({ turn, message_id: id, sender, text }) {
    this.#run(this.#turn(turn));
    if (sender !== "user") return;
    if (!this.#messages.has(id)) this.#add({ id, turn, sender, text, metadata: {} }).complete({});
    this.#running.append(this.#typing);
  }

  #begin({ message_id: id, kind }) {
    if (this.#messages.has(id) || !this.#running) return;
    this.#typing.remove();
    const sender = kind === "agent" ? "agent" : "assistant";
    this.#add({ id, turn: Number(this.#running.dataset.turn), sender, text: "", metadata: { type: kind } });
  }

  #done({ turn, status }) {
    const shown = this.#turn(turn);
    if (ENDS.includes(status) && !shown.querySelector(".note")) shown.append(textElement("p", `conversation.${status}`, undefined, { class: "note" }));
    if (this.#running === shown) this.#run(undefined);
  }

  #run(turn) {
    this.#running = turn;
    if (!turn) this.#typing.remove();
  }

  #add(message) {
    const shown = new Message(this.#conversation, message);
    this.#messages.set(message.id, shown);
    const turn = this.#turn(message.turn);
    const before = message.sender === "user" ? turn.firstChild : turn.querySelector(":scope > .note, :scope > .typing");
    turn.insertBefore(shown.element, before);
    return shown;
  }

  // Returns the element of a turn, in order among the others.
  #turn(number) {
    let turn = this.#turns.get(number);
    if (!turn) {
      turn = element("section", { class: "turn", "data-turn": number });
      const later = [...this.#turns.keys()].filter((other) => other > number);
      this.element.insertBefore(turn, later.length ? this.#turns.get(Math.min(...later)) : null);
      this.#turns.set(number, turn);
    }
    return turn;
  }
}

// One message, whose text may grow.
class Message {
  #drawn = [];
  #drawing = 0;
  #growing = true;

  constructor(conversation, { id, turn, sender, text, metadata }) {
    Object.assign(this, { conversation, turn, sender, text, metadata });
    this.by = element("p", { class: "by" });
    this.body = element("div", { class: "bubble" });
    this.element = element("article", { class: `message ${sender} ${metadata.type ?? ""}`, "data-message": id }, this.by, this.body);
    this.#name();
    this.#draw();
  }

  get isGrowing() {
    return this.#growing;
  }

  /** Appends a delta. */
  grow(text) {
    if (!this.#growing) return;
    this.text += text;
    // Draw once per animation frame, however many deltas arrive.
    this.#drawing ||= requestAnimationFrame(() => this.#draw());
  }

  /** Ends the growing message. */
  end(metadata = {}) {
    if (!this.#growing) return;
    this.#growing = false;
    this.metadata = metadata;
    this.#name();
    this.#draw();
    if (metadata.cut) this.element.append(textElement("p", `conversation.${metadata.cut_reason ?? "cut"}`, undefined, { class: "note" }));
  }

  /** Completes the message from the history. */
  complete({ text = this.text, metadata = this.metadata, created_at: created, receipt: why, delivery }) {
    if (this.#growing) {
      this.text = text;
      this.end(metadata);
    }
    if (delivery) this.#deliver(delivery);
    if (!this.by.querySelector("time")) this.by.append(words.time(created ?? new Date().toISOString()));
    if (why && !this.explained && !ASIDES.includes(metadata.type)) {
      this.explained = receipt(why);
      this.element.append(this.explained);
      if (session.me?.may_edit && this.turn > 0) this.element.append(this.#objection());
    }
  }

  // Shows how far the message has come on its channel.
  #deliver({ status, error = "" }) {
    const reason = status === "failed" && words.has(`delivery.${error}`) ? error : status;
    const shown = textElement("p", `delivery.${reason}`, { error }, { class: `delivery ${status}` });
    this.element.querySelector(":scope > .delivery")?.remove();
    this.body.after(shown);
  }

  #objection() {
    const made = button("wrong.button", () => wrong(this.conversation, this.turn), { class: "plain" });
    return element("p", { class: "objection" }, made);
  }

  #name() {
    const name = this.sender === "agent" && this.metadata.name;
    const who = name ? element("strong", { dir: "auto" }, name) : textElement("strong", `sender.${this.sender}`);
    const kind = this.metadata.type && words.has(`kind.${this.metadata.type}`) ? [textElement("span", `kind.${this.metadata.type}`)] : [];
    this.by.replaceChildren(who, ...kind, ...this.by.querySelectorAll("time"));
  }

  #draw() {
    cancelAnimationFrame(this.#drawing);
    this.#drawing = 0;
    // A customer's text is shown exactly as written.
    if (this.sender === "user") this.body.replaceChildren(element("p", { dir: "auto" }, this.text));
    else this.#drawn = render(this.body, parse(this.#growing ? closed(this.text) : this.text, this.sender === "agent" ? allowWeb(location.href) : allow), this.#drawn);
  }
}
