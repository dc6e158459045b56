// The tickets without a conversation, and the payments and the consent log of a shop of the commerce desk.

import { ask, session, words } from "./desk.js";
import { Escalation } from "./escalation.js";
import { badge, empty, fill, head, pages, textElement, word } from "./parts.js";
import { element } from "../assets/render.js";

// The badges of states that need no person.
const KINDS = { paid: "taken", failed: "closed", timeout: "closed" };

export function sales() {
  const parts = [part("tickets", tickets)];
  if (session.me.sells) parts.push(part("payments", payments), part("consent", consents));
  const view = element("div", { class: "column" }, head("sales.title", "sales.about"), ...parts.map(({ element: made }) => made));
  const load = () => parts.forEach(({ read }) => read());
  words.onChange(view, load);
  load();
  return { element: view };
}

function part(name, load) {
  const place = element("div");
  const read = () => fill(place, () => load(read));
  return { element: element("section", { class: "block" }, textElement("h2", `sales.${name}`), place), read };
}

async function tickets(changed) {
  const { tickets: open, has_more: more } = await ask("GET", "/console/api/tickets");
  if (!open.length) return [empty("sales.no_tickets", "sales.no_tickets_hint")];
  const made = open.map((ticket) => element("div", { class: "card" }, element("p", { class: "quiet" }, ticket.id, " · ", words.time(ticket.created_at)), new Escalation(ticket, changed).element));
  if (more) made.push(textElement("p", "sales.more_tickets", { shown: open.length }, { class: "quiet" }));
  return made;
}

// Shows the first page of a list, and adds the others.
async function listed(path, key, heads, line) {
  const read = async (after) => {
    const page = await ask("GET", `/console/api/${path}${after ? `?after=${after}` : ""}`);
    return { rows: page[key].map(line), next: page.next };
  };
  const { rows, next } = await read();
  if (!rows.length) return [empty(`sales.no_${key}`, `sales.no_${key}_hint`)];
  return pages(heads.map((name) => `sales.${name}`), rows, next, read);
}

const payments = () => listed("payments", "payments", ["at", "order", "amount", "method", "state", "conversation"], payment);

function payment({ at, order, amount, method, provider, status, receipt, conversation_id: id }) {
  const by = element("td", {}, word("payment_method", method), element("small", {}, [provider, receipt].filter(Boolean).join(" · ")));
  const state = element("td", {}, badge(`payment_status.${status}`, KINDS[status] ?? "waiting"));
  return element("tr", {}, element("td", {}, words.time(at)), element("td", {}, order), element("td", {}, words.money(amount)), by, state, conversation(id));
}

const consents = () => listed("consent-changes", "changes", ["at", "who", "from", "to", "message", "conversation"], change);

function change({ at, who, customer, from, to, message, conversation_id: id }) {
  const by = element("td", {}, word("consent_by", who), ...(customer ? [element("small", {}, customer)] : []));
  return element("tr", {}, element("td", {}, words.time(at)), by, agreed(from), agreed(to), element("td", { dir: "auto" }, message ?? "–"), conversation(id));
}

function agreed({ marketing, notifications, language }) {
  const shown = { marketing: onOff(marketing), notifications: onOff(notifications), language: language ?? "–" };
  return element("td", {}, ...Object.entries(shown).map(([name, value]) => element("div", {}, textElement("span", `sales.${name}`), ": ", value)));
}

const onOff = (on) => textElement("span", on ? "sales.on" : "sales.off");

const conversation = (id) => element("td", {}, id ? textElement("a", "sales.open", undefined, { href: `#/inbox/${encodeURIComponent(id)}` }) : "–");
