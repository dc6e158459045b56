// Replies that are interrupted by a reload, a crash of the server or a lost network.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { QUESTION, Stage, assertClean, message, quiet, say, texts } from "./stage.js";

// The browser's messages about an unreachable server.
const GONE = /Failed to load resource: net::ERR_|ERR_CONNECTION|ERR_INTERNET_DISCONNECTED|ERR_INCOMPLETE_CHUNKED/;

let stage;
before(async () => (stage = await Stage.open()));
after(() => stage?.close());

const ask = (page) => stage.speaking(page, "Em đang tìm");

test("a reload restores the conversation and running reply", async () => {
  const page = await stage.page();
  await stage.answered(page, "Câu trước ạ.");
  const reply = await ask(page);
  await page.reload();
  await message(page, "Em đang tìm");
  await page.locator("#running").waitFor();
  reply.say("sản phẩm ");
  await message(page, "Em đang tìm sản phẩm");
  reply.say("phù hợp.");
  reply.end();
  await quiet(page);
  const shown = await texts(page);
  assert.equal(shown.filter((text) => text === QUESTION).length, 2);
  assert.deepEqual(shown.filter((text) => /Câu trước|Em đang tìm/.test(text)), ["Câu trước ạ.", "Em đang tìm sản phẩm phù hợp."]);
  assert.equal(shown.length, 8, shown.join("\n"));
  await page.reload();
  await message(page, "Em đang tìm sản phẩm phù hợp.");
  await page.waitForFunction((count) => document.querySelectorAll(".message").length === count, shown.length);
  assert.deepEqual(await texts(page), shown);
  assertClean(page);
});

test("the page reconnects after the server is killed", async () => {
  const page = await stage.page({ expected: [GONE] });
  await ask(page);
  await stage.server.kill();
  await page.getByText("Mất kết nối, đang kết nối lại…").waitFor();
  // Written while the server is down: stored, and sent later.
  await say(page, "cảm ơn shop");
  await page.locator("#transcript").getByText("Chưa gửi được. Tin nhắn sẽ tự gửi khi có kết nối.").waitFor();
  await stage.server.start();
  await page.locator("#transcript").getByText("Câu trả lời bị gián đoạn").waitFor();
  await page.locator("#connection:not(.lost)").waitFor({ state: "attached" });
  await quiet(page);
  assert.match(await page.locator("#announcements").innerText(), /Đã kết nối lại\./);
  assert.equal(await page.locator(".message.user", { hasText: "cảm ơn shop" }).count(), 1);
  const reply = await ask(page);
  reply.end();
  await quiet(page);
  assertClean(page);
});

test("a stopping server completes the running reply", async () => {
  const page = await stage.page({ expected: [GONE] });
  const reply = await ask(page);
  const stopped = stage.server.stop();
  reply.say("cho quý khách.");
  reply.end();
  await message(page, "Em đang tìm cho quý khách.");
  await stopped;
  await page.getByText("Mất kết nối, đang kết nối lại…").waitFor();
  await stage.server.start();
  await page.locator("#connection:not(.lost)").waitFor({ state: "attached" });
  await quiet(page);
  assert.equal(await page.locator("#transcript").getByText("Câu trả lời bị gián đoạn").count(), 0);
  assert.equal(await page.locator(".message.reply").count(), 1);
  assertClean(page);
});

test("unsent messages are sent after a reload", async () => {
  const page = await stage.page({ expected: [GONE] });
  await (await ask(page)).end();
  await quiet(page);
  await stage.server.kill();
  await page.getByText("Mất kết nối, đang kết nối lại…").waitFor();
  await say(page, QUESTION);
  await page.locator("#transcript").getByText("Chưa gửi được. Tin nhắn sẽ tự gửi khi có kết nối.").waitFor();
  stage.model.nextSays("Đã nhận ạ.");
  await stage.server.start();
  await page.reload();
  await message(page, "Đã nhận ạ.");
  await quiet(page);
  assert.equal(await page.locator(".message.user", { hasText: QUESTION }).count(), 2);
  assertClean(page);
});

test("an offline page shows it and reconnects", async () => {
  const page = await stage.page({ expected: [GONE] });
  const reply = await ask(page);
  await page.context().setOffline(true);
  await page.getByText("Mất kết nối, đang kết nối lại…").waitFor();
  reply.say("cho quý khách.");
  reply.end();
  await page.context().setOffline(false);
  await message(page, "Em đang tìm cho quý khách.");
  await page.locator("#connection:not(.lost)").waitFor({ state: "attached" });
  await quiet(page);
  assertClean(page);
});

test("a reset reloads the history", async () => {
  const page = await stage.page();
  const reply = await ask(page);
  reply.end();
  await quiet(page);
  const id = await page.evaluate(() => JSON.parse(localStorage.getItem("frontdesk:system_persona_vi:conversation")).id);
  // The server sends this for an unknown event id.
  await page.route("**/history?*", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), last_event_id: "900.1" } });
    await page.unroute("**/history?*");
  });
  const again = page.waitForRequest((request) => request.url().includes("/events") && !request.url().includes("900.1"));
  await page.reload();
  assert.ok((await again).url().includes(id));
  await stage.answered(page, "Vẫn còn đây ạ.");
  assert.equal(await page.locator(".message.reply").count(), 2);
  assertClean(page);
});
