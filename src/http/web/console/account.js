// The telecom account of a conversation, in a folded panel: refund cases to decide, the plan, invoices and decided cases.

import { announce, ask, words } from "./desk.js";
import { attempt, badge, button, field, labelled, row, section, textElement, word } from "./parts.js";
import { oneAtATime, replaceKeepingFocus } from "./reread.js";
import { element } from "../assets/render.js";

const DECISIONS = ["approve", "reject"];

export class Account {
  #path;
  #known;
  #written;
  #forms = new Map();
  #summary = element("summary");
  #panel;
  #body = labelled(element("div", { class: "returns-body", role: "region", tabindex: "-1" }), "account.title");

  constructor(conversation) {
    this.#path = `/console/api/conversations/${encodeURIComponent(conversation)}/account`;
    this.#panel = element("details", { class: "returns account" }, this.#summary, this.#body);
    // The panel takes this place once the account is known.
    this.element = element("div", { hidden: true });
    words.onChange(this.#panel, () => this.#known && this.#draw());
  }

  /** Reads again, unless the desk has no accounts. After a failure the panel stays. */
  read = oneAtATime(async () => {
    if (this.#known?.has_accounts === false || document.hidden) return;
    const known = await ask("GET", this.#path).catch(() => undefined);
    const written = JSON.stringify(known);
    if (!known || written === this.#written) return;
    this.#known = known;
    this.#written = written;
    this.#draw();
  });

  #draw() {
    const { user_id: user, subscription, invoices, cases } = this.#known;
    if (user && this.element !== this.#panel) {
      this.element.replaceWith(this.#panel);
      this.element = this.#panel;
    }
    const open = cases.filter(({ is_open: isOpen }) => isOpen);
    const about = [textElement("strong", "account.title"), element("span", {}, user ?? "")];
    this.#summary.replaceChildren(...about, ...(open.length ? [badge("returns.to_decide", "waiting")] : []));
    replaceKeepingFocus(
      this.#body,
      ...open.map((refund) => this.#form(refund)),
      plan(subscription),
      ...[section("account.invoices", invoices.map(invoice))].filter(Boolean),
      ...cases.filter(({ is_open: isOpen }) => !isOpen).map(decided),
    );
  }

  // Reuses the form of a case, which keeps its text.
  #form(refund) {
    if (!this.#forms.has(refund.id)) this.#forms.set(refund.id, form(refund, () => this.read()));
    return this.#forms.get(refund.id);
  }
}

function plan(subscription) {
  if (!subscription) return textElement("p", "account.no_plan", undefined, { class: "quiet" });
  const { plan_name: name, price_monthly: price, status, start_date: since } = subscription;
  const rows = [row("account.plan", name), row("account.price", words.money(price)), row("account.status", word("account_status", status)), row("account.since", words.date(since))];
  return element("section", {}, element("dl", {}, ...rows));
}

const invoice = ({ number, amount, issued_on: day }) => row(undefined, `${words.money(amount)}, ${words.date(day)}`, number);

const facts = ({ invoice: number, amount, reason, description, eta_date: eta }) => [
  row("account.invoice", number),
  row("account.claimed", words.money(amount)),
  row("returns.reason", word("refund_reason", reason)),
  ...(description ? [row("account.description", description)] : []),
  row("account.eta", words.date(eta)),
];

// An open case with the form for its decision. Calls `changed()` after it.
function form(refund, changed) {
  const { id, status } = refund;
  const why = element("textarea", { rows: "2", dir: "auto", required: true, maxlength: "2000", "data-focus": id });
  const trouble = element("div");
  const decide = async (pressed, decision) => {
    const text = why.value.trim();
    why.setAttribute("aria-invalid", String(!text));
    if (!text) {
      trouble.replaceChildren(textElement("p", "returns.why_missing", undefined, { class: "failure", role: "alert" }));
      return why.focus();
    }
    const path = `/console/api/refund-cases/${encodeURIComponent(id)}/decide`;
    const done = await attempt(pressed, trouble, () => ask("POST", path, { decision, why: text }));
    if (done) announce(`decided.${decision}`);
    await changed();
  };
  const buttons = DECISIONS.map((decision) => {
    const made = button(`decision.${decision}`, () => decide(made, decision), { class: decision === "approve" ? "button strong" : "button", "data-decision": decision, "data-focus": `${id} ${decision}` });
    return made;
  });
  const about = element("div", { class: "block-head" }, element("h2", {}, id), badge(`case_status.${status}`, "waiting"));
  return element("section", { class: "escalation", "data-case": id }, about, element("dl", {}, ...facts(refund)), field("returns.why", why, "account.why_hint"), trouble, element("div", { class: "actions" }, ...buttons));
}

function decided(refund) {
  const { id, status, decided: decision } = refund;
  const by = decision ? [row("returns.why", decision.why), row("returns.by", element("span", {}, element("span", {}, decision.by), " ", words.time(decision.at)))] : [];
  const about = element("div", { class: "block-head" }, element("h2", {}, id), badge(`case_status.${status}`, "taken"));
  return element("section", { "data-case": id }, about, element("dl", {}, ...facts(refund), ...by));
}
