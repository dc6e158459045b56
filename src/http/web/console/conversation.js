// One conversation: its messages with receipts, its handoff and its returns.

import { Account } from "./account.js";
import { Answer } from "./answer.js";
import { announce, ask, session, words } from "./desk.js";
import { attempt, badge, button, failure, icon, labelled, loading, textElement } from "./parts.js";
import { announce as announceText, element } from "../assets/render.js";
import { readHistory } from "../assets/request.js";
import { Panel } from "./panel.js";
import { Returns } from "./returns.js";
import { nameCustomer } from "./row.js";
import { followEnd } from "../assets/scroll.js";
import { Stream } from "../assets/stream.js";
import { Thread } from "./thread.js";

// In development and with an API key, the person has no name.
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
  #account;

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
    this.#account = new Account(id);
    this.element = element("div", { class: "conversation" }, this.#head, this.#trouble, this.#returns.element, this.#account.element, this.#panel.element, element("div", { class: "scrolled" }, scroller, below), this.#answer.element);
    this.#stream = new Stream({
      address: (after) => `${this.#path}/events?${new URLSearchParams({ last_event_id: after })}`,
      onEvent: (event) => this.#onEvent(event),
      onConnection: () => {},
      onRefused: () => ask("GET", this.#path).then(() => true, () => !this.#closed),
    });
    // A hidden tab closes its stream, because a browser allows only six connections per host.
    this.onVisible = () => (document.hidden ? this.#stream.close() : this.#read());
    addEventListener("visibilitychange", this.onVisible);
    this.end = live.listen((ids) => {
      if (ids && !ids.includes(id)) return;
      this.#refresh();
      this.#returns.refresh();
      this.#account.read();
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

  /** Scrolls to `turn`, if given. Returns the element to focus. */
  show(turn) {
    this.#turn = turn;
    this.#toTurn();
    return this.heading;
  }

  /** Sets the customer's name, if known. */
  setCustomerName(name) {
    if (!name || name === this.#name) return;
    this.#name = name;
    if (this.#conversation) nameCustomer(this.heading, { ...this.#conversation, customer_name: name });
  }

  get #path() {
    return `/conversations/${encodeURIComponent(this.id)}`;
  }

  // Reads the history, then the events after it.
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
      this.#returns.refresh();
      this.#account.read();
      this.#panel.read();
    } catch (error) {
      if (mine === this.#reading) this.#state.replaceChildren(failure(error, () => this.#read()));
    }
  }

  #history(after) {
    return readHistory((path) => ask("GET", `${this.#path}/${path}`), after);
  }

  // Reads the status, which may have changed.
  async #refresh() {
    try {
      const conversation = await ask("GET", this.#path);
      if (this.#closed) return;
      this.#write(conversation);
      // The change may be a report about the last messages.
      if (conversation.channel) this.#explain(Number.parseInt(conversation.last_event_id, 10) - 1);
    } catch (error) {
      if (!this.#closed && error.status === 404) this.#state.replaceChildren(failure(error));
    }
  }

  #onEvent(event) {
    if (event.type === "reset") return this.#read();
    this.#thread.onEvent(event);
    if (event.type === "turn.start" && event.sender === "user") announceText(`${words.say("sender.user")}: ${event.text}`);
    if (event.type === "turn.done") this.#explain(event.turn);
  }

  // Only the history contains receipts.
  async #explain(turn) {
    try {
      const { messages } = await this.#history(`${Math.max(0, turn - 1)}-999999999`);
      if (!this.#closed) this.#thread.explain(messages);
    } catch {
      // The next reading of the history shows them.
    }
  }

  #write(conversation) {
    this.#conversation = conversation;
    const late = conversation.channel && new Date(conversation.reply_until ?? 0) < new Date();
    const written = JSON.stringify([conversation.status, conversation.agent, conversation.user_id, late]);
    if (written === this.#written) return;
    if (this.#written) announce(`conversation.now_${state(conversation)}`, { name: conversation.agent ?? "" });
    this.#written = written;
    const { status, agent, persona, preferred_language: language, created_at: created } = conversation;
    nameCustomer(this.heading, { ...conversation, customer_name: conversation.customer_name ?? this.#name });
    const about = [badge(`status.${status}`, status)];
    if (status === "taken" && agent) about.push(element("span", { dir: "auto" }, agent));
    about.push(element("span", {}, `${persona} · ${language}`), element("span", {}, textElement("span", "conversation.began"), " ", words.time(created)));
    if (conversation.channel) about.push(textElement("span", `channel.${conversation.channel}`));
    if (late) about.push(textElement("strong", "conversation.late"));
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
