// One conversation, as the shop reads it: what was said, why, and who answers from now on.

import { announce, announceText, ask, session, words } from "./desk.js";
import { attempt, badge, button, failure, labelled, loading, said } from "./parts.js";
import { Answer } from "./answer.js";
import { element } from "../assets/elements.js";
import { followEnd } from "../assets/scroll.js";
import { icon } from "./svg.js";
import { nameCustomer } from "./row.js";
import { Panel } from "./panel.js";
import { Returns } from "./returns.js";
import { Stream } from "../assets/stream.js";
import { Thread } from "./thread.js";

const FULL_PAGE = 200;

// In development, and by an API key, nobody says a name.
const state = ({ status, agent }) => (status === "taken" && !agent ? "taken_unnamed" : status);

export class Conversation {
  #conversation;
  #stream;
  #thread;
  #reading = 0;
  #closed = false;
  #written;
  #name;
  #end;
  #turn;
  #head = element("header", { class: "conversation-head" });
  #trouble = element("div", { class: "conversation-trouble" });
  #state = element("div");
  #answer;
  #panel;
  #returns;

  constructor(id, live) {
    this.id = id;
    this.heading = element("h1", { tabindex: "-1", dir: "auto" }, "…");
    const back = labelled(element("a", { href: "#/inbox", class: "back icon" }, icon("M15 5l-7 7 7 7")), "conversation.back");
    this.badges = element("p", { class: "conversation-about" });
    this.actions = element("div", { class: "actions" });
    this.#head.append(back, element("div", { class: "conversation-who" }, this.heading, this.badges), this.actions);
    this.#thread = new Thread(id);
    const scroller = element("div", { class: "scroller", tabindex: "0", role: "log", "aria-live": "off" }, this.#state, this.#thread.element);
    labelled(scroller, "conversation.messages");
    const below = button("conversation.below", () => {}, { class: "below", hidden: true });
    this.#end = followEnd(scroller, this.#thread.element, below, () => this.#thread.length);
    this.#answer = new Answer(id);
    this.#panel = new Panel(id);
    this.#returns = new Returns(id);
    this.element = element("div", { class: "conversation" }, this.#head, this.#trouble, this.#returns.element, this.#panel.element, element("div", { class: "scrolled" }, scroller, below), this.#answer.element);
    this.#stream = new Stream({
      address: (after) => `${this.#path}/events?${new URLSearchParams({ last_event_id: after })}`,
      onEvent: (event) => this.#hear(event),
      onConnection: () => {},
      onRefused: () => ask("GET", this.#path).then(() => true, () => !this.#closed),
    });
    // A tab that nobody sees leaves its connection to those that somebody sees: a browser has six.
    this.onVisible = () => (document.hidden ? this.#stream.close() : this.#read());
    addEventListener("visibilitychange", this.onVisible);
    this.end = live.listen((ids) => {
      if (ids && !ids.includes(id)) return;
      this.#look();
      this.#returns.heed();
      this.#panel.read();
    });
    this.#state.append(loading());
    this.#read();
  }

  close() {
    this.#closed = true;
    this.#reading += 1;
    this.#stream.end();
    this.#returns.close();
    removeEventListener("visibilitychange", this.onVisible);
    this.end();
  }

  /** Shows the place of `turn`, if there is one. Gives what the focus moves to. */
  show(turn) {
    this.#turn = turn;
    this.#toTurn();
    return this.heading;
  }

  /** The customer is known by this name, or not yet. */
  called(name) {
    if (!name || name === this.#name) return;
    this.#name = name;
    if (this.#conversation) nameCustomer(this.heading, { ...this.#conversation, customer_name: name });
  }

  get #path() {
    return `/conversations/${encodeURIComponent(this.id)}`;
  }

  // The history, and from there on the events.
  async #read() {
    const mine = ++this.#reading;
    this.#stream.close();
    try {
      const history = await this.#history();
      if (mine !== this.#reading) return;
      this.#state.replaceChildren();
      this.#write(history.conversation);
      const fresh = !this.#thread.element.childElementCount;
      this.#thread.show(history.messages);
      if (fresh) this.#turn ? this.#toTurn() : this.#end.toEnd();
      this.#stream.open(history.lastEventId);
      this.#returns.heed();
      this.#panel.read();
    } catch (error) {
      if (mine === this.#reading) this.#state.replaceChildren(failure(error, () => this.#read()));
    }
  }

  async #history(after) {
    const messages = [];
    let first;
    let cursor = after;
    do {
      const page = await ask("GET", `${this.#path}/history?limit=${FULL_PAGE}${cursor ? `&after=${cursor}` : ""}`);
      first ??= page;
      messages.push(...page.messages);
      cursor = page.next;
    } while (cursor);
    return { conversation: first.conversation, messages, lastEventId: first.last_event_id };
  }

  // Who answers may have changed.
  async #look() {
    try {
      const conversation = await ask("GET", this.#path);
      if (!this.#closed) this.#write(conversation);
    } catch (error) {
      if (!this.#closed && error.status === 404) this.#state.replaceChildren(failure(error));
    }
  }

  #hear(event) {
    if (event.type === "reset") return this.#read();
    this.#thread.take(event);
    if (event.type === "turn.start" && event.sender === "user") announceText(`${words.say("sender.user")}: ${event.text}`);
    if (event.type === "turn.done") this.#explain(event.turn);
  }

  // Receipts stand in the history alone.
  async #explain(turn) {
    try {
      const { messages } = await this.#history(`${Math.max(0, turn - 1)}-999999999`);
      if (!this.#closed) this.#thread.explain(messages);
    } catch {
      // They are there when the conversation is read again.
    }
  }

  #write(conversation) {
    this.#conversation = conversation;
    const written = JSON.stringify([conversation.status, conversation.agent, conversation.user_id]);
    if (written === this.#written) return;
    if (this.#written) announce(`conversation.now_${state(conversation)}`, { name: conversation.agent ?? "" });
    this.#written = written;
    const { status, agent, persona, preferred_language: language, created_at: created } = conversation;
    nameCustomer(this.heading, { ...conversation, customer_name: conversation.customer_name ?? this.#name });
    const about = [badge(`status.${status}`, status)];
    if (status === "taken" && agent) about.push(element("span", { dir: "auto" }, agent));
    about.push(element("span", {}, `${persona} · ${language}`), element("span", {}, said("span", "conversation.began"), " ", words.time(created)));
    this.badges.replaceChildren(...about);
    this.#offer(status, agent);
  }

  #offer(status, agent) {
    const isMine = status === "taken" && (agent ?? null) === (session.me?.name ?? null);
    const fromOther = agent ? "conversation.take_from" : "conversation.take";
    const takes = { bot: "conversation.take", waiting: "conversation.take", taken: isMine ? undefined : fromOther };
    const offers = [];
    if (takes[status]) offers.push(["take", takes[status], true]);
    if (isMine) offers.push(["give-back", "conversation.give_back", false]);
    if (status === "closed") offers.push(["reopen", "conversation.reopen", true]);
    else offers.push(["close", "conversation.close", false]);
    const focused = this.actions.contains(document.activeElement);
    this.actions.replaceChildren(
      ...offers.map(([action, key, strong]) => {
        const attributes = { class: strong ? "button strong" : "button", "data-action": action, values: { name: agent ?? "" } };
        const made = button(key, () => this.#do(made, action), attributes);
        return made;
      }),
    );
    this.#answer.use(state({ status, agent }), isMine, agent);
    if (focused) (isMine ? this.#answer.field : this.actions.firstChild ?? this.heading).focus();
  }

  async #do(pressed, action) {
    await attempt(pressed, this.#trouble, async () => {
      const { conversation } = await ask("POST", `/console/api${this.#path}/${action}`);
      if (!this.#closed) this.#write(conversation);
    });
  }

  #toTurn() {
    if (this.#turn) this.#thread.find(Number(this.#turn))?.scrollIntoView({ block: "start" });
  }
}
