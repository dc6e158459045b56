// The conversation on the page: its turns in order, each with its messages, and the state of the running turn.
//
// Messages come from the history and from the events after it, and the two overlap. A message of the history is complete, so
// an event for the same message changes nothing.

import { Bubble, button, OwnBubble } from "./bubble.js";
import { element } from "./render.js";

// Kinds of messages that precede the reply.
const OPENERS = ["language_ack", "cute_greeting"];

export class Transcript {
  #place;
  #words;
  #allow;
  #turns = new Map();
  #messages = new Map();
  #unsent = new Map();
  #typing;
  #running;
  // The sender of the shop's last message: `assistant` or `agent`.
  #voice;

  /**
   * Shows messages in `place`. Calls `onRunning(turn)` with the turn that the assistant answers, or undefined;
   * `onMessage(bubble)` when an event has completed a message of the shop; `onStored(entry)` when an event shows that the
   * server has stored an entry of the outbox; `onNote(text)` when a line appears that a screen reader should announce;
   * `onAskAgain(text)` when the customer repeats a question.
   */
  constructor(place, words, allow, { onRunning, onMessage, onStored, onNote, onAskAgain }) {
    this.#place = place;
    this.#words = words;
    this.#allow = allow;
    Object.assign(this, { onRunning, onMessage, onStored, onNote, onAskAgain });
    this.#typing = element("p", { class: "typing" }, element("span", { class: "dots", "aria-hidden": "true" }), element("span"));
  }

  /** Replaces all messages by these of the history, whose turns up to `ended` have ended. Unsent ones stay. */
  show(messages, ended = 0) {
    this.#turns.clear();
    this.#messages.clear();
    this.#voice = "assistant";
    this.#run(undefined);
    this.#place.replaceChildren();
    for (const { id, turn, sender, text, metadata } of messages) {
      if (sender === "user") {
        this.#ask(this.#turn(turn), id, text);
      } else {
        const bubble = new Bubble(this.#words, this.#allow, { id, kind: metadata.type, sender, text });
        bubble.end(metadata);
        this.#add(this.#turn(turn), bubble);
        this.#messages.set(id, bubble);
        if (metadata.cut || metadata.type === "error_notice") this.#offerAgain(this.#turn(turn));
      }
    }
    // Turns that were stopped or interrupted before the reply. After a person's answer, the question is for the person.
    for (const group of this.#turns.values()) {
      const isSilent = group.bubbles.every(({ kind }) => OPENERS.includes(kind));
      if (group.number <= ended && isSilent && this.#voice === "assistant") this.#offerAgain(group);
    }
    for (const bubble of this.#unsent.values()) this.#place.append(bubble.element);
  }

  /** Shows the persona's greeting before a conversation exists. */
  greet(text) {
    this.show([{ id: "greeting", turn: 0, sender: "assistant", text, metadata: { type: "greeting" } }]);
  }

  /** Shows a line of the page between the messages. */
  notice(key) {
    this.#place.append(this.#line("notice", key));
  }

  /** Shows an entry of the outbox with its state. */
  unsent(entry, again) {
    let bubble = this.#unsent.get(entry);
    if (entry.state === "sent") {
      this.#unsent.delete(entry);
      const { message_id: id, turn } = entry.answer;
      this.#ask(this.#turn(turn), id, entry.text, bubble);
      return;
    }
    if (!bubble) {
      bubble = new OwnBubble(this.#words, entry);
      this.#unsent.set(entry, bubble);
      this.#place.append(bubble.element);
    }
    const { key, values } = stateWords(entry);
    bubble.state(key, values, entry.state === "refused" ? again : undefined);
    // A countdown is announced once.
    const isNew = bubble.shown !== entry.state;
    bubble.shown = entry.state;
    if (isNew && ["refused", "waiting"].includes(entry.state)) this.onNote(this.#words.say(key, values));
  }

  /** Forgets the unsent messages. */
  forgetUnsent() {
    this.#unsent.clear();
  }

  /** Notes that the customer stopped this turn. */
  stopping(turn) {
    this.#turn(turn).stopWished = true;
  }

  /** Handles an event of the conversation. */
  onEvent(event) {
    switch (event.type) {
      case "turn.start":
        return this.#start(event);
      case "queued":
        return this.#queued(event.position - 1);
      case "tool.start":
        return this.#words.put(this.#typing.lastChild, "looking_up");
      case "intent":
        return this.#running?.element.setAttribute("lang", event.language);
      case "message.start":
        return this.#begin(event);
      case "delta":
        return this.#growing(event)?.append(event.text);
      case "message.end":
        return this.#end(event);
      case "error":
        return this.#trouble(event);
      case "turn.done":
        return this.#done(event);
    }
  }

  #queued(ahead) {
    if (ahead > 0) this.#words.put(this.#typing.lastChild, "queued", { ahead });
    else this.#words.put(this.#typing.lastChild, "queued_next");
  }

  #start({ turn, message_id, sender, text }) {
    const group = this.#turn(turn);
    if (sender === "user") {
      // The event may arrive before the response to our own message.
      const ours = this.#messages.has(message_id) ? undefined : [...this.#unsent.keys()].find((entry) => entry.text === text);
      this.#ask(group, message_id, text, this.#unsent.get(ours));
      if (this.#unsent.delete(ours)) this.onStored(ours);
    }
    // A person's message arrives complete, so there is no typing line and no stop button.
    if (sender === "agent") {
      this.#running = group;
      return;
    }
    this.#run(group);
    this.#type();
  }

  #begin({ message_id, kind }) {
    if (this.#messages.has(message_id) || !this.#running) return;
    const sender = kind === "agent" ? "agent" : "assistant";
    const bubble = new Bubble(this.#words, this.#allow, { id: message_id, kind, sender });
    this.#messages.set(message_id, bubble);
    this.#typing.remove();
    const taken = this.#add(this.#running, bubble);
    if (taken) this.onNote(taken.textContent);
  }

  #growing({ message_id }) {
    const bubble = this.#messages.get(message_id);
    return bubble?.complete ? undefined : bubble;
  }

  #end(event) {
    const bubble = this.#growing(event);
    if (bubble) {
      bubble.end(event.metadata);
      this.onMessage(bubble);
    }
    if (event.metadata?.cut || event.kind === "error_notice") this.#offerAgain(this.#running);
    if (this.#running && OPENERS.includes(event.kind)) this.#type();
  }

  #trouble({ message, retryable }) {
    if (!this.#running) return;
    const bubble = new Bubble(this.#words, this.#allow, { kind: "trouble", text: message });
    bubble.end();
    this.#running.add(bubble);
    this.onMessage(bubble);
    if (retryable) this.#offerAgain(this.#running);
  }

  #done({ turn, status }) {
    const group = this.#turn(turn);
    if (status === "cancelled" && group.stopWished) group.stopped(this.#words);
    if (status === "failed" || status === "interrupted") this.#offerAgain(group);
    if (this.#running === group) this.#run(undefined);
  }

  // Returns the group of a turn, in order among the others.
  #turn(number) {
    let group = this.#turns.get(number);
    if (!group) {
      group = new Turn(number);
      const later = [...this.#turns.keys()].filter((other) => other > number);
      const next = later.length ? this.#turns.get(Math.min(...later)).element : this.#firstUnsent();
      this.#place.insertBefore(group.element, next ?? null);
      this.#turns.set(number, group);
    }
    return group;
  }

  #firstUnsent() {
    return [...this.#unsent.values()].find(({ element }) => element.parentNode === this.#place)?.element;
  }

  #ask(group, id, text, bubble) {
    if (this.#messages.has(id)) {
      if (bubble && this.#messages.get(id) !== bubble) bubble.element.remove();
      return;
    }
    const own = bubble ?? new OwnBubble(this.#words, { text });
    own.state();
    own.element.dataset.message = id;
    this.#messages.set(id, own);
    group.ask(own);
  }

  // Shows a message of the shop. If the sender changes, adds a line above that names the new one, and returns it.
  #add(group, bubble) {
    let taken;
    if (bubble.sender !== this.#voice) {
      this.#voice = bubble.sender;
      taken = this.#line("notice", bubble.sender === "agent" ? "person_speaks" : "assistant_speaks");
      group.put(taken);
    }
    group.add(bubble);
    return taken;
  }

  #line(kind, key) {
    const line = element("p", { class: kind });
    this.#words.put(line, key);
    return line;
  }

  #offerAgain(group) {
    if (!group?.question) return;
    group.offer(button(this.#words, "ask_again", () => this.onAskAgain(group.question.text)));
  }

  #type() {
    this.#words.put(this.#typing.lastChild, "typing");
    this.#running.element.append(this.#typing);
  }

  #run(group) {
    this.#running = group;
    if (!group) this.#typing.remove();
    this.onRunning(group?.number);
  }
}

// The messages of one turn, the customer's first.
class Turn {
  constructor(number) {
    this.number = number;
    this.bubbles = [];
    this.element = element("section", { class: "turn", "data-turn": number });
  }

  ask(bubble) {
    this.question = bubble;
    this.element.prepend(bubble.element);
  }

  add(bubble) {
    this.bubbles.push(bubble);
    this.put(bubble.element);
  }

  /** Shows an element below the messages, but above the offer to ask again. */
  put(element) {
    if (this.again) this.again.before(element);
    else this.element.append(element);
  }

  /** Shows that the customer stopped the turn, unless a message shows it. */
  stopped(words) {
    if (this.bubbles.some((bubble) => bubble.note)) return;
    const line = element("p", { class: "note" });
    words.put(line, "stopped");
    this.element.append(line);
  }

  offer(button) {
    if (this.again) return;
    this.again = element("p", { class: "again" }, button);
    this.element.append(this.again);
  }
}

function stateWords({ state, refusal, seconds }) {
  if (state === "sending") return { key: "sending" };
  if (state === "later") return { key: "send_later" };
  if (state === "waiting") return { key: refusal.status === 429 ? "too_fast" : "busy", values: { seconds } };
  return { key: { 403: "refused", 429: "too_many" }[refusal.status] ?? "not_sent" };
}
