// The telecom account of a conversation, and the decision on a refund case.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { enter } from "./desk.js";
import { Stage, assertClean } from "./stage.js";

let stage;
before(async () => {
  stage = await Stage.open({ PERSONA_PATH: "prompts/telecom_en.md" });
  await stage.server.run("seed", "telecom");
});
after(() => stage?.close());

test("a refund case is decided in the console", async () => {
  const said = ["I was overcharged PLN 100 on invoice INV-12345", "It's u123", "yes"];
  const id = await stage.server.conversation({ persona: "telecom_en", language: "en" }, ...said);
  const page = await enter(stage, { locale: "en-US", view: `inbox/${id}` });
  const summary = page.locator(".account > summary");
  await summary.getByText("Decision needed").waitFor();
  await summary.click();
  const form = page.locator('[data-case="R10001"]');
  assert.equal(await page.locator(".returns:visible").count(), 1, "no other panel covers it");
  assert.match(await page.locator(".account").innerText(), /u123[^]*INV-12345[^]*overcharge[^]*M 100 GB/);
  await form.locator('[data-decision="approve"]').click();
  await form.locator("[role=alert]").waitFor();
  await form.locator("textarea").fill("charged twice");
  await stage.server.say(id, "I was overcharged PLN 20 on invoice INV-20251001, please refund it");
  await stage.server.say(id, "yes");
  await page.locator('[data-case="R10002"]').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.value), "charged twice", "the form keeps its text and the focus");
  await form.locator('[data-decision="approve"]').click();
  await page.locator('[data-case="R10001"] .badge', { hasText: "approved" }).waitFor();
  await page.getByText("refund case R10001 is approved").waitFor();
  assert.equal(await form.locator("textarea").count(), 0, "a decided case has no form");
  assertClean(page);
});
