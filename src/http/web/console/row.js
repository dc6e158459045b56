// One conversation in the inbox.

import { memory, words } from "./desk.js";
import { plain } from "../assets/markup.js";
import { badge, textElement } from "./parts.js";
import { element } from "../assets/render.js";

// The most conversations whose read state is stored.
const REMEMBERED = 500;

export class Row {
  #written;
  #conversation;
  #isOpen = false;
  #unread = textElement("span", "inbox.unread", undefined, { class: "badge unread" });

  constructor(id) {
    this.id = id;
    this.link = element("a", { href: `#/inbox/${encodeURIComponent(id)}`, class: "row" });
    this.element = element("li", {}, this.link);
  }

  /** Shows the conversation. */
  write(conversation) {
    const written = JSON.stringify(conversation);
    if (written === this.#written) return;
    this.#written = written;
    this.#conversation = conversation;
    const { status, agent, last_message: last, last_customer_message: theirs, last_activity_at: active, waiting_since: since } = conversation;
    const name = element("strong", { dir: "auto" });
    nameCustomer(name, conversation);
    const first = element("span", { class: "row-top" }, name, words.time(active));
    // The customer's message distinguishes conversations better than the reply.
    const text = element("span", { class: "row-text", dir: "auto" });
    if (theirs) text.textContent = theirs.text;
    else if (last) text.append(textElement("span", last.sender === "agent" ? "inbox.person_said" : "inbox.bot_said"), " ", plain(last.text));
    const third = element("span", { class: "row-more" }, badge(`status.${status}`, status));
    if (status === "taken" && agent) third.append(element("span", { dir: "auto" }, agent));
    if (status === "waiting" && since) third.append(textElement("span", "inbox.waits_since"), " ", words.time(since, { "data-elapsed": "" }));
    this.link.replaceChildren(first, text, third);
    this.#markUnread();
  }

  get customer() {
    return this.#conversation?.customer_name ?? undefined;
  }

  /** Marks the row as the open conversation, or not. */
  mark(isOpen) {
    this.#isOpen = isOpen;
    if (isOpen) this.link.setAttribute("aria-current", "true");
    else this.link.removeAttribute("aria-current");
    this.#markUnread();
  }

  // The customer's last message is read once the conversation was open in this browser. Only conversations with staff count.
  #markUnread() {
    const { id, status, last_customer_message: theirs } = this.#conversation ?? {};
    const isStaffs = status === "waiting" || status === "taken";
    if (this.#isOpen && theirs && !document.hidden) read.note(id, theirs.created_at);
    const isUnread = Boolean(isStaffs && theirs && read.last(id) !== theirs.created_at);
    this.link.classList.toggle("unread", isUnread);
    this.#unread.remove();
    if (isUnread) this.link.querySelector(".row-more")?.append(this.#unread);
  }
}

// The last message that was read in each conversation, in this browser.
const read = {
  last: (id) => memory.get("read")?.[id],
  note(id, moment) {
    if (read.last(id) === moment) return;
    const { [id]: _, ...others } = memory.get("read") ?? {};
    const kept = Object.entries(others).slice(1 - REMEMBERED);
    memory.set("read", { ...Object.fromEntries(kept), [id]: moment });
  },
};

/** Shows the customer's name, else the shop's `user_id`, else the end of the conversation's id. */
export function nameCustomer(made, { customer_name: name, user_id, id }) {
  const user = name ?? user_id;
  if (!user) return words.put(made, "inbox.customer", { id: id.slice(-5) });
  words.clear(made);
  made.textContent = user;
}
