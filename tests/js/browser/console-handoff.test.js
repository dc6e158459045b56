// A person takes a conversation, answers and returns it to the bot.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { enter, newest, read, talk } from "./desk.js";
import { QUESTION, Stage, assertClean, message, quiet, say } from "./stage.js";

let stage;
before(async () => (stage = await Stage.open()));
after(() => stage?.close());

const answer = async (page, text) => {
  await page.locator(".answer textarea").fill(text);
  await page.locator(".answer textarea").press("Enter");
};

test("taking over stops the bot, shows the person", async () => {
  const customer = await stage.page();
  const reply = await stage.speaking(customer, "Dạ em gợi ý");
  const { id } = await newest(stage);
  const page = await enter(stage, { name: "Lan" });
  await read(page, id);
  await page.locator('[data-action="take"]').click();
  await page.locator(".conversation-head .badge.taken").waitFor();
  reply.say("Dell Inspiron ạ. ");
  reply.end();
  await quiet(customer);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "TEXTAREA", "the person who takes over can write at once");

  await answer(page, "Chào anh, em là Lan đây ạ.");
  const theirs = await message(customer, "Chào anh, em là Lan đây ạ.");
  assert.match(await theirs.getAttribute("class"), /agent/);
  assert.match(await theirs.innerText(), /Lan/);
  assert.equal(await customer.locator(".message.agent").count(), 1);
  assert.equal(await page.locator(".message.agent").count(), 1);
  assert.equal(await page.locator(".answer textarea").inputValue(), "");

  const before = await customer.locator(".message").count();
  await say(customer, "laptop nào rẻ nhất ạ?");
  await message(page, "laptop nào rẻ nhất ạ?");
  await page.locator("#announcements", { hasText: "Khách: laptop nào rẻ nhất ạ?" }).waitFor({ state: "attached" });
  await quiet(customer);
  assert.equal(await customer.locator(".message").count(), before + 1, "the bot says nothing");
  assert.equal((await customer.locator(".bubble").allInnerTexts()).join().includes("Dell Inspiron ạ"), false);

  await page.locator('[data-action="give-back"]').click();
  await page.locator(".conversation-head .badge.bot").waitFor();
  stage.model.nextSays("Dạ có Vivobook ạ. ");
  await say(customer, QUESTION);
  await message(customer, "Dạ có Vivobook ạ.");
  await quiet(customer);
  await customer.reload();
  await message(customer, "Chào anh, em là Lan đây ạ.");
  assert.equal(await customer.locator(".message.agent").count(), 1);
  for (const each of [page, customer]) assertClean(each);
});

test("waiting customers are counted until they are taken", async () => {
  const page = await enter(stage, { view: "figures" });
  await page.locator(".column.figures").waitFor();
  const { id, customer } = await talk(stage, "cho mình gặp nhân viên");
  await page.waitForFunction(() => document.title.startsWith("(1) "));
  assert.equal(await page.locator("#waiting").innerText(), "1");
  await page.locator('#rail a[href="#/inbox"]').click();
  await page.locator('[data-status="waiting"]').click();
  await read(page, id);
  await page.locator(".conversation-head .badge.waiting").waitFor();
  await page.locator('[data-action="take"]').click();
  await page.waitForFunction(() => !document.title.startsWith("("));
  for (const each of [page, customer]) assertClean(each);
});

test("a sound announces a waiting customer, if enabled", async () => {
  const page = await enter(stage);
  await page.evaluate(() => {
    window.tones = 0;
    const start = OscillatorNode.prototype.start;
    OscillatorNode.prototype.start = function (...when) {
      window.tones += 1;
      return start.apply(this, when);
    };
  });
  await page.locator(".list h1").click();
  await talk(stage, "talk to a human please");
  await page.waitForFunction(() => window.tones > 0);
  await page.locator("#sound").click();
  assert.equal(await page.locator("#sound").getAttribute("aria-pressed"), "false");
  const before = await page.evaluate(() => window.tones);
  const waiting = Number(await page.locator("#waiting").innerText());
  await talk(stage, "cho mình gặp nhân viên");
  await page.waitForFunction((count) => document.title.startsWith(`(${count}) `), waiting + 1);
  assert.equal(await page.evaluate(() => window.tones), before);
  await page.reload();
  await page.locator('#sound[aria-pressed="false"]').waitFor();
  assertClean(page);
});

test("text typed during sending becomes the next answer", async () => {
  const { id } = await talk(stage, "xin chào");
  const page = await enter(stage, { view: `inbox/${id}` });
  await page.locator('[data-action="take"]').click();
  let release;
  const held = new Promise((done) => (release = done));
  await page.route("**/answers", async (route) => {
    await held;
    await route.continue();
  });
  const field = page.locator(".answer textarea");
  await field.fill("Chào bạn,");
  await field.press("Enter");
  await field.pressSequentially("mình là Lan.");
  await field.press("Enter");
  assert.equal(await field.inputValue(), "mình là Lan.", "it waits for the first one");
  release();
  await page.locator(".message.agent", { hasText: "Chào bạn," }).waitFor();
  await page.locator('.answer .strong[aria-disabled="false"]').waitFor();
  await field.press("Enter");
  await page.locator(".message.agent", { hasText: "mình là Lan." }).waitFor();
  assert.deepEqual(await page.locator(".message.agent .bubble").allInnerTexts(), ["Chào bạn,", "mình là Lan."]);
  assertClean(page);
});

test("a second person sees who has the conversation", async () => {
  const { id } = await talk(stage, "xin chào");
  const lan = await enter(stage, { name: "Lan", view: `inbox/${id}` });
  const minh = await enter(stage, { name: "Minh", view: `inbox/${id}` });
  await lan.locator('[data-action="take"]').click();
  await lan.locator(".answer textarea").waitFor();
  await minh.getByText("Lan đang phụ trách hội thoại này.").waitFor();
  assert.equal(await minh.locator(".answer textarea").count(), 0);
  await minh.getByRole("button", { name: "Tiếp nhận từ Lan" }).click();
  await minh.locator(".answer textarea").waitFor();
  await lan.getByText("Minh đang phụ trách hội thoại này.").waitFor();
  for (const each of [lan, minh]) assertClean(each);
});

test("a failed answer stays and is stored once", async () => {
  const { id, customer } = await talk(stage, "xin chào");
  const page = await enter(stage, { view: `inbox/${id}`, expected: [/status of 503/] });
  await page.locator('[data-action="take"]').click();
  await page.route("**/answers", async (route) => {
    // The server accepts the answer, but the response is lost.
    await route.fetch();
    await route.fulfill({ status: 503, json: { code: "unavailable" } });
    await page.unroute("**/answers");
  });
  await answer(page, "Em nghe ạ.");
  await page.locator(".answering .failure").waitFor();
  assert.equal(await page.locator(".answer textarea").inputValue(), "Em nghe ạ.");
  await page.locator(".answer textarea").press("Enter");
  await page.waitForFunction(() => document.querySelector(".answer textarea").value === "");
  await message(customer, "Em nghe ạ.");
  assert.equal(await page.locator(".message.agent").count(), 1);
  assertClean(page);
});
