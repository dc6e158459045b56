// A return merchandise authorization, and the steps that a person takes.

import { announce, ask, words } from "./desk.js";
import { attempt, badge, button, dialog, said } from "./parts.js";
import { row, word } from "./facts.js";
import { element } from "../assets/elements.js";

/** What is known of `rma`, and a button for each of its next steps; calls `changed()` after one. `items` are its order's. */
export function rmaCard(rma, items, changed) {
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
  if (locked) rows.push(row("returns.locked_because", why ?? "–"));
  const about = [element("h2", {}, number), badge(`rma_status.${status}`, "taken"), ...(locked ? [badge("returns.locked", "waiting")] : [])];
  const made = element("section", { "data-rma": number }, element("div", { class: "block-head" }, ...about), element("dl", {}, ...rows));
  if (next.length) made.append(element("div", { class: "actions" }, ...next.map((to) => step(rma, to, changed))));
  return made;
}

const step = (rma, to, changed) => button(`rma_step.${to}`, ({ currentTarget: pressed }) => confirm(pressed, rma, to, changed), { "data-step": to, "data-focus": `${rma.number} ${to}` });

// No step leads back.
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
  const asked = dialog("returns.step_title", { number }, said("p", "returns.step_about", states), trouble, element("div", { class: "actions" }, cancel, take));
  // Somebody else's step may have taken the button away to which the focus would go back.
  asked.addEventListener("close", () => pressed.isConnected || document.querySelector(".returns > summary")?.focus());
}
