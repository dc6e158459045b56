// The goods of a shop of the commerce desk, and the consent and payments of a customer.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { enter } from "./desk.js";
import { Stage, assertClean } from "./stage.js";

let stage;
before(async () => {
  stage = await Stage.open({ PERSONA_PATH: "prompts/commerce_en.md" });
  await stage.server.run("seed", "commerce");
});
after(() => stage?.close());

test("consent and payments are next to the conversation", async () => {
  const said = ["canvas shoes size 40 black", "pay", "1", "0712345678", "yes", "STOP"];
  const id = await stage.server.conversation({ persona: "commerce_en", language: "en" }, ...said);
  const page = await enter(stage, { locale: "en-US", view: `inbox/${id}` });
  const panel = page.locator("dl.panel");
  await panel.getByText("Consent changed").waitFor();
  assert.match(await panel.innerText(), /Offers\s+off\s+Notifications\s+off[^]*Order[^]*Canvas shoes[^]*Payment[^]*pending/i);
  assertClean(page);
});

test("a ticket appears while the conversation is open", async () => {
  const id = await stage.server.conversation({ persona: "commerce_en", language: "en" }, "hello");
  const page = await enter(stage, { locale: "en-US", view: `inbox/${id}` });
  await page.getByText("hello").first().waitFor();
  await stage.server.say(id, "I was charged twice, I want my money back");
  await page.locator("details.returns:not([hidden])").waitFor();
  assertClean(page);
});

test("goods are searched in the console", async () => {
  const page = await enter(stage, { locale: "en-US", view: "goods" });
  await page.getByText("Running shoes").waitFor();
  const search = page.getByLabel("Search");
  await search.fill("canvas");
  await search.press("Enter");
  await page.getByText("Running shoes").waitFor({ state: "detached" });
  const row = page.locator("tbody tr", { hasText: "Canvas shoes" });
  assert.match(await row.innerText(), /1,250[^]*\d/);
  await search.fill("spaceship");
  await search.press("Enter");
  await page.getByText("No goods").waitFor();
  assertClean(page);
});

test("payments and consent of the shop are listed", async () => {
  const said = ["gum boots size 41 black", "pay", "1", "0712345679", "yes", "STOP"];
  const id = await stage.server.conversation({ persona: "commerce_en", language: "en" }, ...said);
  const page = await enter(stage, { locale: "en-US", view: "sales" });
  const table = (heading) => page.locator("section", { hasText: heading }).locator("tbody tr").first();
  await page.getByText("No tickets").waitFor();
  await table("M-PESA prompt").waitFor();
  assert.match(await table("M-PESA prompt").innerText(), /M-PESA prompt[^]*sandbox[^]*waiting for the customer/);
  assert.match(await table("Before").innerText(), /Customer[^]*Notifications: on[^]*Notifications: off[^]*STOP/);
  await table("M-PESA prompt").getByText("Open").click();
  await page.waitForURL(new RegExp(`#/inbox/${id}`));
  assertClean(page);
});
