// Orders and returns of a conversation: their state, their next steps and decisions.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { enter } from "./desk.js";
import { Stage, assertClean, message } from "./stage.js";

const SHOP = { persona: "returns_en", language: "en" };

let stage;
before(async () => {
  stage = await Stage.open({ PERSONA_PATH: "prompts/returns_en.md" });
  await stage.server.run("seed", "returns");
});
after(() => stage?.close());

const returnsOf = (id) => stage.server.api("GET", `/console/api/conversations/${id}/returns`);

/** Returns the unfolded panel. */
async function unfolded(page) {
  await page.locator(".returns > summary").click();
  return page.locator(".returns");
}

/** Presses the button of this step and confirms. */
async function step(page, to) {
  await page.locator(`[data-step="${to}"]`).click();
  await page.locator("dialog[open] .button.strong").click();
}

test("a return shows its state and next steps", async () => {
  const id = await stage.server.conversation(SHOP, "where is order 77912?", "buyer-77898@example.com");
  const page = await enter(stage, { locale: "en-US", view: `inbox/${id}` });
  const summary = page.locator(".returns > summary");
  await summary.getByText("items received").waitFor();
  assert.equal(await page.locator(".returns-body").isVisible(), false, "it is folded, as receipts are");
  const panel = await unfolded(page);
  assert.deepEqual(await panel.locator("[data-step]").allInnerTexts(), ["Items inspected"]);
  assert.match(await panel.locator("[data-order]").innerText(), /Lê Minh Quân[^]*b\*\*\*@example\.com[^]*Wool Socks \(\$19\.90\)/);

  await page.locator('[data-step="Inspected"]').click();
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.step), "Inspected", "cancelling returns the focus to the button");
  await step(page, "Inspected");
  await summary.getByText("items inspected").waitFor();
  assert.deepEqual(await panel.locator("[data-step]").allInnerTexts(), ["Approve", "Reject"]);
  assert.ok(await page.evaluate(() => document.querySelector(".returns").contains(document.activeElement)), "the focus stays in the panel");
  await panel.locator(".record > summary").click();
  const last = panel.locator(".record li").last();
  assert.match(await last.innerText(), /Return[^]*Lan[^]*RMA-[^]*status: items received → items inspected/);
  await page.locator("#announcements", { hasText: "items inspected" }).waitFor({ state: "attached" });

  await page.locator("#language").click();
  await summary.getByText("đã kiểm tra hàng").waitFor();
  assert.match(await panel.locator("[data-order]").innerText(), /19,90/);
  assert.ok(await panel.locator(".record li").last().isVisible(), "what was unfolded stays so");

  const card = panel.locator("[data-rma]");
  await step(page, "Approved");
  await card.locator('[data-step="Refunded"]').waitFor();
  assert.match(await card.innerText(), /Sẽ hoàn/);
  await step(page, "Refunded");
  await card.getByText("Đã hoàn", { exact: true }).waitFor();
  assert.doesNotMatch(await card.innerText(), /Sẽ hoàn/);
  assertClean(page);
});

test("an escalation's form keeps its text until decided", async () => {
  const said = ["return order 77893", "john.doe@example.com", "yes", "Actually, the boots are shattered.", "the box looked fine from outside"];
  const id = await stage.server.conversation(SHOP, ...said);
  const page = await enter(stage, { locale: "en-US", view: `inbox/${id}` });
  await page.locator(".returns > summary", { hasText: "Decision needed" }).waitFor();
  const panel = await unfolded(page);
  const why = panel.locator(".escalation textarea");
  assert.ok(await panel.getByText("locked", { exact: true }).isVisible());
  await panel.locator('[data-decision="approve"]').click();
  await panel.locator(".escalation [role=alert]").waitFor();
  assert.equal(await why.getAttribute("aria-invalid"), "true");
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "TEXTAREA");

  await why.fill("Seen the ph");
  const rows = await panel.locator(".record li").count();
  await stage.server.say(id, "where is order 77895? buyer-77895@example.com");
  await page.waitForFunction((count) => document.querySelectorAll(".record li").length > count, rows);
  await page.keyboard.type("otos");
  assert.equal(await why.inputValue(), "Seen the photos", "neither the words nor the focus are lost");

  await page.locator("#language").click();
  await panel.getByText("Khách báo hàng hỏng sau khi đã mở phiếu trả", { exact: true }).waitFor();
  assert.match(await panel.locator(".told").innerText(), /^Lý do: Khách báo hàng hỏng[^]*Tiếp theo: Xin ảnh[^]*the box looked fine from outside$/);
  await page.locator("#language").click();

  await panel.locator('[data-decision="more_info"]').click();
  await page.locator("#announcements", { hasText: "still open" }).waitFor({ state: "attached" });
  await why.fill("Seen the photos");
  await panel.locator('[data-decision="approve"]').click();
  await panel.locator(".escalation").waitFor({ state: "detached" });
  const decision = panel.locator("section", { hasText: "Decided: TICKET-" });
  assert.match(await decision.innerText(), /approved[^]*Seen the photos[^]*Lan/);
  assert.equal(await panel.getByText("locked", { exact: true }).count(), 0);
  const { tickets } = await returnsOf(id);
  const { resolved } = tickets.find(({ kind }) => kind === "escalation");
  assert.deepEqual([resolved.decision, resolved.by, resolved.why], ["approve", "Lan", "Seen the photos"]);
  assertClean(page);
});

test("other people's steps are shown and conflicts reported", async () => {
  const id = await stage.server.conversation(SHOP, "return order 77895", "buyer-77895@example.com", "yes");
  const [lan, minh] = [await enter(stage, { locale: "en-US", name: "Lan", view: `inbox/${id}` }), await enter(stage, { locale: "en-US", name: "Minh", view: `inbox/${id}`, expected: [/status of 409/] })];
  for (const page of [lan, minh]) {
    await unfolded(page);
    await page.locator('[data-step="In_Transit"]').waitFor();
  }
  await minh.locator('[data-step="In_Transit"]').click();
  await step(lan, "In_Transit");
  await step(lan, "Received");
  await minh.locator(".returns > summary", { hasText: "items received" }).waitFor();
  await minh.locator("dialog[open] .button.strong").click();
  await minh.locator("dialog[open] .failure", { hasText: "changed elsewhere" }).waitFor();
  await minh.keyboard.press("Escape");
  assert.deepEqual(await minh.locator("[data-step]").allInnerTexts(), ["Items inspected"]);
  for (const page of [lan, minh]) assertClean(page);
});

test("a conversation without returns shows no panel", async () => {
  const id = await stage.server.conversation({ persona: "system_persona_vi" }, "bảo hành LAP-0001");
  const page = await enter(stage, { locale: "en-US" });
  const read = () => page.waitForResponse((response) => response.url().endsWith("/returns"));
  const first = read();
  await page.locator(`.row[href="#/inbox/${id}"]`).click();
  await page.locator(".thread .receipt").first().waitFor();
  await first;
  // Any desk may open a ticket, so a change reads again.
  const again = read();
  await stage.server.say(id, "cho mình gặp nhân viên");
  await message(page, "cho mình gặp nhân viên");
  await page.locator(".conversation-head .badge.waiting").waitFor();
  await again;
  assert.equal(await page.locator(".returns").isVisible(), false);
  assertClean(page);
});
