// Escalations and the decisions on them.

import { announce, ask, words } from "./desk.js";
import { attempt, badge, button, field, row, textElement, section, word } from "./parts.js";
import { element } from "../assets/render.js";

const DECISIONS = ["approve", "reject", "more_info"];

/** An open escalation: its reason and a form. The form keeps its text when the conversation is reloaded. */
export class Escalation {
  #path;
  #changed;
  #why;
  #summary = element("div");
  #facts = element("dl");
  #trouble = element("div");

  /** Calls `changed()` after a decision. */
  constructor(ticket, changed) {
    const { id, priority, reason, summary, rma, order } = ticket;
    this.#path = `/console/api/escalations/${encodeURIComponent(id)}/resolve`;
    this.#changed = changed;
    this.#why = element("textarea", { rows: "2", dir: "auto", required: true, maxlength: "2000", "data-focus": id });
    const buttons = DECISIONS.map((decision) => {
      const attributes = { class: decision === "approve" ? "button strong" : "button", "data-decision": decision, "data-focus": `${id} ${decision}` };
      const made = button(`decision.${decision}`, () => this.#decide(made, decision), attributes);
      return made;
    });
    this.element = element(
      "section",
      { class: "escalation" },
      element("div", { class: "block-head" }, textElement("h2", "returns.to_decide"), ...(priority ? [badge(`priority.${priority}`, "waiting")] : [])),
      // A summary names the reason as well.
      element("p", { dir: "auto" }, [rma ?? order, summary.includes(reason) ? "" : sentence("escalation_reason", reason)].filter(Boolean).join(": ")),
      this.#summary,
      this.#facts,
      field("returns.why", this.#why, "returns.why_hint"),
      this.#trouble,
      element("div", { class: "actions" }, ...buttons),
    );
    this.show(ticket);
  }

  /** Updates the ticket, for example when the customer has answered a question. The form keeps its text. */
  show({ summary, claim, question }) {
    this.#summary.replaceChildren(handoff(summary));
    const rows = [
      claim && row("returns.claim", element("span", {}, word("ticket_kind", claim.action), ` #${claim.lines.join(", #")}`)),
      question && row("returns.question", question),
    ];
    this.#facts.replaceChildren(...rows.filter(Boolean));
  }

  async #decide(pressed, decision) {
    const why = this.#why.value.trim();
    this.#why.setAttribute("aria-invalid", String(!why));
    if (!why) {
      this.#trouble.replaceChildren(textElement("p", "returns.why_missing", undefined, { class: "failure", role: "alert" }));
      return this.#why.focus();
    }
    const done = await attempt(pressed, this.#trouble, () => ask("POST", this.#path, { decision, why }));
    if (done) {
      this.#why.value = "";
      announce(`decided.${decision}`);
    }
    await this.#changed();
  }
}

const SUMMARY = /^(Also: )?Reason: (.*)\nRequest: (.*), order (.*)\nActions taken: eligibility (\w+)(?: \(.*\))?, return (.*)\nNext steps: (.*)/gm;

// Of a desk that words the rest in another way.
const REASON = /^Reason: (.*)$/gm;

// Returns the desk's summary with its sentences in the reader's language. What was added later, such as the customer's words, is not
// translated.
function handoff(summary) {
  const made = element("p", { class: "told quiet", dir: "auto" });
  const translate = (_, also, reason, request, order, eligibility, rma, next) => {
    const values = {
      reason: sentence("escalation_reason", reason),
      request: words.has(`intent.${request}`) ? words.say(`intent.${request}`) : sentence("escalation_reason", request),
      order: order === "none named" ? "–" : order,
      eligibility: eligibility === "none" ? "–" : wordOf("reason_code", eligibility),
      rma: rma === "none" ? "–" : rma,
      next: sentence("escalation_next", next),
    };
    return `${also ? "\n" : ""}${words.say("returns.summary", values)}`;
  };
  const write = () => made.replaceChildren(summary.replace(SUMMARY, translate).replace(REASON, translateReason));
  write();
  words.onChange(made, write);
  return made;
}

const translateReason = (_, reason) => `${words.say("returns.reason")}: ${sentence("escalation_reason", reason)}`;

const wordOf = (group, value) => (words.has(`${group}.${value}`) ? words.say(`${group}.${value}`) : value);

// Returns the text for a sentence of the desk, whose key is made from the sentence.
export function sentence(group, text) {
  const key = text.toLowerCase().replace(/[^a-z]+/g, "_");
  return words.has(`${group}.${key}`) ? words.say(`${group}.${key}`) : text;
}

/** Shows a resolved escalation. */
export function decided({ id, reason, resolved: { decision, by, why, at } }) {
  const rows = [
    row("returns.reason", sentence("escalation_reason", reason)),
    row("returns.decision", word("decided", decision)),
    row("returns.why", why),
    row("returns.by", element("span", {}, element("span", {}, by), " ", words.time(at))),
  ];
  return section("returns.was_decided", rows, { id });
}
