// What the conversation has to do with orders and returns, folded beside it: what a person is to decide, the RMAs with their
// next steps, the orders, the mails, and the record of who changed what.

import { ask, words } from "./desk.js";
import { badge, labelled, said } from "./parts.js";
import { decided, Escalation } from "./escalation.js";
import { row, section, word } from "./facts.js";
import { element } from "../assets/elements.js";
import { record } from "./record.js";
import { rmaCard } from "./rma.js";

// Labels and mails are made a moment after what they follow from, and nobody tells of them.
const ON_THEIR_WAY_MS = [1000, 4000, 12_000];

export class Returns {
  #path;
  #known;
  #written;
  #asking;
  #again = false;
  #closed = false;
  #waited = 0;
  #timer;
  #forms = new Map();
  #summary = element("summary");
  #body = labelled(element("div", { class: "returns-body", role: "region", tabindex: "-1" }), "returns.title");
  #record = element("details", { class: "record" }, element("summary", { "data-focus": "record" }));

  constructor(conversation) {
    this.#path = `/console/api/conversations/${encodeURIComponent(conversation)}/returns`;
    this.element = element("details", { class: "returns", hidden: true }, this.#summary, this.#body);
    words.onChange(this.element, () => this.#known && this.#draw());
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** Something of the conversation has changed: reads anew where that can concern returns. */
  heed() {
    if (!document.hidden && this.#known?.takes_returns !== false) return this.read();
  }

  /** Reads anew. Whoever asks while that is being done has it done once more. */
  read() {
    this.#waited = 0;
    return this.#read();
  }

  #read() {
    this.#again = Boolean(this.#asking);
    return (this.#asking ??= this.#ask().finally(() => (this.#asking = undefined)));
  }

  async #ask() {
    do {
      this.#again = false;
      // What cannot be read now is read with the next change.
      const known = await ask("GET", this.#path).catch(() => undefined);
      if (this.#closed) return;
      if (known) this.#take(known);
    } while (this.#again && this.#known?.takes_returns !== false);
  }

  #take(known) {
    this.#known = known;
    clearTimeout(this.#timer);
    const wait = ON_THEIR_WAY_MS[this.#waited];
    if (isOnItsWay(known) && wait) {
      this.#waited += 1;
      this.#timer = setTimeout(() => document.hidden || this.#read(), wait);
    }
    const written = JSON.stringify(known);
    if (written === this.#written) return;
    this.#written = written;
    this.#draw();
  }

  #draw() {
    const { orders, rmas, tickets, mails, record: rows, has_more: hasMore } = this.#known;
    this.element.hidden = ![orders, rmas, tickets, mails, rows].some((list) => list.length);
    const escalations = tickets.filter(({ kind }) => kind === "escalation");
    const open = escalations.filter(({ resolved }) => !resolved);
    this.#summary.replaceChildren(...inShort(orders, rmas, open));
    const focused = this.#body.contains(document.activeElement) ? document.activeElement.dataset.focus ?? "" : undefined;
    const itemsOf = (number) => orders.find((order) => order.number === number)?.items ?? [];
    this.#record.hidden = !rows.length;
    words.put(this.#record.firstChild, "record.title", { count: rows.length });
    this.#record.replaceChildren(this.#record.firstChild, record(rows));
    this.#body.replaceChildren(
      ...open.map((ticket) => this.#form(ticket).element),
      ...newestFirst(rmas).map((rma) => rmaCard(rma, itemsOf(rma.order), () => this.read())),
      ...escalations.filter(({ resolved }) => resolved).map(decided),
      ...newestFirst(orders).map(orderCard),
      ...[section("returns.cancellations", tickets.filter(({ kind }) => kind === "cancel").map(cancellation)), section("returns.mails", mails.map(mailRow))].filter(Boolean),
      this.#record,
      ...(hasMore ? [said("p", "returns.has_more", undefined, { class: "quiet" })] : []),
    );
    if (focused !== undefined) (this.#body.querySelector(`[data-focus="${CSS.escape(focused)}"]`) ?? this.#body).focus();
  }

  // The form of a ticket that stays keeps what was written into it.
  #form(ticket) {
    if (!this.#forms.has(ticket.id)) this.#forms.set(ticket.id, new Escalation(ticket, () => this.read()));
    const form = this.#forms.get(ticket.id);
    form.show(ticket);
    return form;
  }
}

const newestFirst = (list) => [...list].reverse();

const isOnItsWay = ({ rmas, mails }) => mails.some(({ status }) => status === "queued") || rmas.some(({ locked, next }) => !locked && next.includes("Label_Sent"));

// The first line says the most: the newest return, and whether somebody is waited for.
function inShort(orders, rmas, open) {
  const rma = rmas.at(-1);
  const order = orders.at(-1);
  const parts = [said("strong", "returns.title")];
  if (rma) parts.push(element("span", {}, rma.number), word("rma_status", rma.status));
  else if (order) parts.push(element("span", {}, order.number), word("order_status", order.status));
  if (rmas.length > 1) parts.push(said("span", "returns.count", { count: rmas.length }));
  if (open.length) parts.push(badge("returns.to_decide", "waiting"));
  return parts;
}

function orderCard({ number, status, customer, ordered_at: ordered, shipped_at: shipped, delivered_at: delivered, tracking, paid, items }) {
  const marks = [customer.is_vip && badge("returns.vip", "taken"), customer.fraud_flag && badge("returns.fraud", "waiting")].filter(Boolean);
  const named = ({ name, quantity, unit_price: price, is_final_sale: isFinal }) => `${quantity} × ${name} (${words.money(price)})${isFinal ? ` – ${words.say("returns.final_sale")}` : ""}`;
  const days = [["returns.ordered", ordered], ["returns.shipped", shipped], ["returns.delivered", delivered]];
  const rows = [
    row("returns.customer", element("span", {}, customer.name, " ", ...marks)),
    row("returns.contact", [customer.email, customer.phone].filter(Boolean).join(", ")),
    ...items.map((item) => row("returns.item", named(item))),
    row("returns.paid", words.money(paid)),
    ...days.filter(([, at]) => at).map(([key, at]) => row(key, words.time(at))),
    row("returns.parcel", tracking ?? "–"),
  ];
  const about = element("div", { class: "block-head" }, said("h2", "returns.order_number", { number }), badge(`order_status.${status}`, ""));
  return element("section", { "data-order": number }, about, element("dl", {}, ...rows));
}

const cancellation = ({ id, order, reason, created_at: at }) => row(undefined, element("span", {}, reason, " ", words.time(at)), `${id} (${order})`);

function mailRow({ template, to, status, error, created_at: created, sent_at: sent }) {
  const told = [badge(`mail_status.${status}`, status === "failed" ? "waiting" : ""), ` ${to} `, words.time(sent ?? created)];
  if (error) told.push(element("small", {}, ` ${error}`));
  return row(undefined, element("span", {}, ...told), word("mail_template", template));
}
