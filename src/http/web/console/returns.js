// Orders and returns of a conversation, in a folded panel: escalations to decide, RMAs with their next steps, orders, mails and
// the audit log.

import { announce, ask, words } from "./desk.js";
import { decided, Escalation, sentence } from "./escalation.js";
import { attempt, badge, button, dialog, labelled, row, textElement, section, word } from "./parts.js";
import { oneAtATime, replaceKeepingFocus } from "./reread.js";
import { element } from "../assets/render.js";

// Labels and mails are created a moment later by background jobs, without an event.
const POLL_MS = [1000, 4000, 12_000];

export class Returns {
  #path;
  #known;
  #written;
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

  /** Reads again after a change of the conversation. */
  refresh() {
    if (!document.hidden) return this.read();
  }

  /** Reads again: any desk may open a ticket. A call during a request starts another one after it. */
  read() {
    this.#waited = 0;
    return this.#read();
  }

  #read = oneAtATime(async () => {
    if (this.#closed) return;
    // After a failure, the next change reads again.
    const known = await ask("GET", this.#path).catch(() => undefined);
    if (known && !this.#closed) this.#take(known);
  });

  #take(known) {
    this.#known = known;
    clearTimeout(this.#timer);
    const wait = POLL_MS[this.#waited];
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
    const { takes_returns: takesReturns, orders, rmas, tickets, mails, record: rows, has_more: hasMore } = this.#known;
    // The audit log of other desks is not about returns.
    this.element.hidden = ![orders, rmas, tickets, mails, takesReturns ? rows : []].some((list) => list.length);
    const escalations = tickets.filter(({ kind }) => DECIDED.includes(kind));
    const open = escalations.filter(({ resolved }) => !resolved);
    this.#summary.replaceChildren(...summarize(orders, rmas, open));
    const itemsOf = (number) => orders.find((order) => order.number === number)?.items ?? [];
    this.#record.hidden = !rows.length;
    words.put(this.#record.firstChild, "record.title", { count: rows.length });
    this.#record.replaceChildren(this.#record.firstChild, record(rows));
    replaceKeepingFocus(
      this.#body,
      ...open.map((ticket) => this.#form(ticket).element),
      ...newestFirst(rmas).map((rma) => rmaCard(rma, itemsOf(rma.order), () => this.read())),
      ...escalations.filter(({ resolved }) => resolved).map(decided),
      ...newestFirst(orders).map(orderCard),
      ...[section("returns.cancellations", tickets.filter(({ kind }) => kind === "cancel").map(cancellation)), section("returns.mails", mails.map(mailRow))].filter(Boolean),
      this.#record,
      ...(hasMore ? [textElement("p", "returns.has_more", undefined, { class: "quiet" })] : []),
    );
  }

  // Reuses the form of a ticket, which keeps its text.
  #form(ticket) {
    if (!this.#forms.has(ticket.id)) this.#forms.set(ticket.id, new Escalation(ticket, () => this.read()));
    const form = this.#forms.get(ticket.id);
    form.show(ticket);
    return form;
  }
}

// The kinds of tickets that a person decides.
const DECIDED = ["escalation", "cancel"];

const newestFirst = (list) => [...list].reverse();

const isOnItsWay = ({ rmas, mails }) => mails.some(({ status }) => status === "queued") || rmas.some(({ locked, next }) => !locked && next.includes("Label_Sent"));

// The summary: the newest return, and whether a decision is open.
function summarize(orders, rmas, open) {
  const rma = rmas.at(-1);
  const order = orders.at(-1);
  const parts = [textElement("strong", "returns.title")];
  if (rma) parts.push(element("span", {}, rma.number), word("rma_status", rma.status));
  else if (order) parts.push(element("span", {}, order.number), word("order_status", order.status));
  if (rmas.length > 1) parts.push(textElement("span", "returns.count", { count: rmas.length }));
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
  const about = element("div", { class: "block-head" }, textElement("h2", "returns.order_number", { number }), badge(`order_status.${status}`, ""));
  return element("section", { "data-order": number }, about, element("dl", {}, ...rows));
}

const cancellation = ({ id, order, reason, created_at: at }) => row(undefined, element("span", {}, reason, " ", words.time(at)), `${id} (${order})`);

function mailRow({ template, to, status, error, created_at: created, sent_at: sent }) {
  const told = [badge(`mail_status.${status}`, status === "failed" ? "waiting" : ""), ` ${to} `, words.time(sent ?? created)];
  if (error) told.push(element("small", {}, " ", textElement("span", "returns.mail_error"), " ", element("span", { lang: "en" }, error)));
  return row(undefined, element("span", {}, ...told), word("mail_template", template));
}

// Shows an RMA with a button for each next step. Calls `changed()` after a step. `items` are those of its order.
function rmaCard(rma, items, changed) {
  const { number, order, action, status, next, locked, escalation_reason: why, lines, refund, reason, tracking, updated_at: since } = rma;
  const name = ({ line, amount }) => `${items.find((item) => item.line === line)?.name ?? `#${line}`} (${words.money(amount)})`;
  const rows = [
    row("returns.order", order),
    row("returns.wanted", word("ticket_kind", action)),
    row("returns.items", lines.map(name).join(", ")),
    row(status === "Refunded" ? "returns.refund" : "returns.to_refund", words.money(refund)),
    row("returns.reason", reason || "–"),
    row("returns.tracking", tracking ?? "–"),
    row("returns.since", words.time(since)),
  ];
  if (locked) rows.push(row("returns.locked_because", why ? sentence("escalation_reason", why) : "–"));
  const about = [element("h2", {}, number), badge(`rma_status.${status}`, "taken"), ...(locked ? [badge("returns.locked", "waiting")] : [])];
  const made = element("section", { "data-rma": number }, element("div", { class: "block-head" }, ...about), element("dl", {}, ...rows));
  if (next.length) made.append(element("div", { class: "actions" }, ...next.map((to) => step(rma, to, changed))));
  return made;
}

const step = (rma, to, changed) => button(`rma_step.${to}`, ({ currentTarget: pressed }) => confirm(pressed, rma, to, changed), { "data-step": to, "data-focus": `${rma.number} ${to}` });

// Asks for confirmation, because a step cannot be undone.
function confirm(pressed, { number, status }, to, changed) {
  const trouble = element("div");
  const take = button(`rma_step.${to}`, async () => {
    const taken = await attempt(take, trouble, () => ask("POST", `/console/api/rmas/${encodeURIComponent(number)}/advance`, { to }));
    if (taken) {
      asked.close();
      announce("returns.stepped", { number, status: words.say(`rma_status.${to}`) });
    }
    await changed();
  }, { class: "button strong" });
  const states = { from: words.say(`rma_status.${status}`), to: words.say(`rma_status.${to}`) };
  const cancel = button("cancel", () => asked.close());
  const asked = dialog("returns.step_title", { number }, textElement("p", "returns.step_about", states), trouble, element("div", { class: "actions" }, cancel, take));
  // Another person's step may have removed the button that had the focus.
  asked.addEventListener("close", () => pressed.isConnected || document.querySelector(".returns > summary")?.focus());
}

// The rows of the audit log, oldest first.
const record = (rows) => element("ol", {}, ...rows.map(line));

function line({ who, what, before, after, order, rma, at }) {
  const by = element("span", { dir: "auto" }, word("record_by", who));
  const about = element("p", { class: "by" }, element("strong", {}, happened(what)), by, element("span", {}, rma ?? order ?? ""), words.time(at));
  const changes = changed(what, before ?? {}, after ?? {});
  return element("li", {}, about, ...(changes.length ? [element("p", { dir: "auto" }, changes.join("; "))] : []));
}

const happened = (what) => word("record_what", what.replaceAll(".", "_"), what);

// Lists the changed fields.
function changed(what, before, after) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const [was, is] = [before[name], after[name]].map((value) => shown(what, name, value));
    if (was === is) return [];
    return [named(name, was && is ? `${was} → ${is}` : is || was)];
  });
}

const named = (name, value) => `${words.has(`record_field.${name}`) ? words.say(`record_field.${name}`) : name}: ${value}`;

function shown(what, name, value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return words.say(value ? "record.yes" : "record.no");
  if (Array.isArray(value)) return value.map((each) => shown(what, name, each)).join(", ");
  if (name === "why") return sentence("escalation_reason", value);
  if (typeof value === "object") return value.reason_code ? shown(what, "reason_code", value.reason_code) : changed(what, {}, value).join(", ");
  const keys = {
    status: `${what.split(".")[0]}_status.${value}`,
    decision: `decided.${value}`,
    priority: `priority.${value}`,
    action: `ticket_kind.${value}`,
    template: `mail_template.${value}`,
    ending: `record_ending.${value}`,
    email: `mail_status.${value}`,
    reason_code: `reason_code.${value}`,
  };
  const key = keys[name];
  return key && words.has(key) ? words.say(key) : String(value);
}
