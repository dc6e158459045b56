// One conversation in the inbox's list.

import { badge, said } from "./parts.js";
import { element } from "../assets/elements.js";
import { words } from "./desk.js";

export class Row {
  #written;

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
    const { status, agent, last_message: last, last_activity_at: active, waiting_since: since } = conversation;
    const name = element("strong", { dir: "auto" });
    nameCustomer(name, conversation);
    const first = element("span", { class: "row-top" }, name, words.time(active));
    const text = element("span", { class: "row-text", dir: "auto" });
    if (last?.sender === "user") text.textContent = last.text;
    else if (last) text.append(said("span", last.sender === "agent" ? "inbox.person_said" : "inbox.bot_said"), " ", last.text);
    const third = element("span", { class: "row-more" }, badge(`status.${status}`, status));
    if (status === "taken" && agent) third.append(element("span", { dir: "auto" }, agent));
    if (status === "waiting" && since) third.append(said("span", "inbox.waits_since"), " ", words.time(since));
    this.link.replaceChildren(first, text, third);
  }

  /** Whether this is the one that is read. */
  mark(isOpen) {
    if (isOpen) this.link.setAttribute("aria-current", "true");
    else this.link.removeAttribute("aria-current");
  }
}

/** Has the element say what the shop calls the customer, else a short piece of the conversation's id. */
export function nameCustomer(made, { user_id: user, id }) {
  if (!user) return words.put(made, "inbox.customer", { id: id.slice(-5) });
  words.clear(made);
  made.textContent = user;
}
