// One conversation in the inbox's list.

import { badge, said } from "./parts.js";
import { element } from "../assets/elements.js";
import { plain } from "../assets/markup.js";
import { memory, words } from "./desk.js";

// Of so many conversations.
const REMEMBERED = 500;

export class Row {
  #written;
  #conversation;
  #isOpen = false;
  #unread = said("span", "inbox.unread", undefined, { class: "badge unread" });

  constructor(id) {
    this.id = id;
    this.link = element("a", { href: `#/inbox/${encodeURIComponent(id)}`, class: "row" });
    this.element = element("li", {}, this.link);
  }

  /** Shows the conversation as it is now. */
  write(conversation) {
    const written = JSON.stringify(conversation);
    if (written === this.#written) return;
    this.#written = written;
    this.#conversation = conversation;
    const { status, agent, last_message: last, last_customer_message: theirs, last_activity_at: active, waiting_since: since } = conversation;
    const name = element("strong", { dir: "auto" });
    nameCustomer(name, conversation);
    const first = element("span", { class: "row-top" }, name, words.time(active));
    // What the customer said tells conversations apart; what we said is much the same in all.
    const text = element("span", { class: "row-text", dir: "auto" });
    if (theirs) text.textContent = theirs.text;
    else if (last) text.append(said("span", last.sender === "agent" ? "inbox.person_said" : "inbox.bot_said"), " ", plain(last.text));
    const third = element("span", { class: "row-more" }, badge(`status.${status}`, status));
    if (status === "taken" && agent) third.append(element("span", { dir: "auto" }, agent));
    if (status === "waiting" && since) third.append(said("span", "inbox.waits_since"), " ", words.time(since, { "data-elapsed": "" }));
    this.link.replaceChildren(first, text, third);
    this.#markUnread();
  }

  get customer() {
    return this.#conversation?.customer_name ?? undefined;
  }

  /** Whether this is the one that is read. */
  mark(isOpen) {
    this.#isOpen = isOpen;
    if (isOpen) this.link.setAttribute("aria-current", "true");
    else this.link.removeAttribute("aria-current");
    this.#markUnread();
  }

  // The customer's last message is read once the conversation has been open in this browser. Staff need not read what the AI answers.
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

// Until when this browser has read each conversation.
const read = {
  last: (id) => memory.get("read")?.[id],
  note(id, moment) {
    if (read.last(id) === moment) return;
    const { [id]: _, ...others } = memory.get("read") ?? {};
    const kept = Object.entries(others).slice(1 - REMEMBERED);
    memory.set("read", { ...Object.fromEntries(kept), [id]: moment });
  },
};

/** Has the element say the customer's name, else what the shop calls them, else a short piece of the conversation's id. */
export function nameCustomer(made, { customer_name: name, user_id, id }) {
  const user = name ?? user_id;
  if (!user) return words.put(made, "inbox.customer", { id: id.slice(-5) });
  words.clear(made);
  made.textContent = user;
}
