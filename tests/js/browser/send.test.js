// Sending: a message is stored once and never lost.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { QUESTION, Stage, assertClean, message, quiet, say, texts } from "./stage.js";

let stage;
before(async () => (stage = await Stage.open({ TEXT_MAX_CHARS: "100" })));
after(() => stage?.close());

const asked = (page, text) => page.locator(".message.user", { hasText: text }).count();

test("a double click sends once", async () => {
  const page = await stage.page();
  stage.model.nextSays("Em nhận được rồi ạ.");
  await page.locator("#text").fill(QUESTION);
  await page.locator("#send").dblclick();
  await message(page, "Em nhận được rồi ạ.");
  await quiet(page);
  assert.equal(await asked(page, QUESTION), 1);
  assertClean(page);
});

test("a lost response sends no message twice", async () => {
  const page = await stage.page({ expected: [/ERR_FAILED/] });
  const keys = [];
  await page.route("**/messages", async (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    if (keys.length > 1) return route.continue();
    // The server stores the message, but the response is lost.
    await route.fetch();
    await route.abort();
  });
  stage.model.nextSays("Em nhận được rồi ạ.");
  await say(page, QUESTION);
  await message(page, "Em nhận được rồi ạ.");
  await page.waitForFunction(() => !localStorage.getItem("frontdesk:system_persona_vi:outbox"));
  await quiet(page);
  // Sent again with its key, unless the stream has shown before that the server has it.
  assert.equal(new Set(keys).size, 1);
  assert.equal(await asked(page, QUESTION), 1);
  await page.reload();
  await message(page, "Em nhận được rồi ạ.");
  assert.equal(await asked(page, QUESTION), 1);
  assertClean(page);
});

test("a rate-limited message is resent after the countdown", async () => {
  const context = await stage.context();
  const page = await stage.page({ context, expected: [/status of (429|503|500|403)/] });
  // Only `runFor` moves the clock, so that a busy machine counts down no faster.
  const now = Date.now();
  await page.clock.install({ time: now });
  await page.clock.pauseAt(now + 1000);
  const keys = [];
  const [soon, late] = ["7", "3600"];
  const refusals = [
    [429, "rate_limited", soon, "Quý khách nhắn hơi nhanh ạ. Tin nhắn sẽ tự gửi lại sau 7 giây…"],
    [503, "overloaded", soon, "Hệ thống đang rất bận ạ. Tin nhắn sẽ tự gửi lại sau 7 giây…"],
    [429, "rate_limited", late, "Quý khách đã gửi rất nhiều tin nhắn"],
    [500, "internal", soon, "Bên em gặp trục trặc nên chưa nhận được tin nhắn"],
    [403, "forbidden_origin", soon, "Không thể gửi tin nhắn từ trang này"],
  ];
  await page.route("**/messages", (route) => {
    const [status, code, wait] = refusals[keys.length] ?? [];
    keys.push(route.request().headers()["idempotency-key"]);
    if (!status) return route.continue();
    return route.fulfill({ status, headers: { "retry-after": wait }, json: { code } });
  });
  stage.model.nextSays("Đã nhận ạ.");
  await say(page, QUESTION);
  for (const [status, code, wait, words] of refusals) {
    await page.locator("#transcript").getByText(words).waitFor();
    if (wait === soon && (status === 429 || code === "overloaded")) {
      await page.clock.runFor(2000);
      await page.locator("#transcript").getByText("sau 5 giây…").waitFor();
      assert.equal(await page.locator("#announcements p", { hasText: words.slice(0, 15) }).count(), 1, "a countdown is announced once");
      await page.clock.runFor(5000);
    } else {
      await page.getByRole("button", { name: "Gửi lại" }).click();
    }
  }
  await message(page, "Đã nhận ạ.");
  await quiet(page);
  assert.equal(new Set(keys).size, 1);
  assert.equal(await asked(page, QUESTION), 1);
  assertClean(page);
});

test("an error for a stored message is hidden", async () => {
  const page = await stage.page({ expected: [/status of 500/] });
  await page.route("**/messages", async (route) => {
    await route.fetch();
    await route.fulfill({ status: 500, json: { code: "internal" } });
  });
  stage.model.nextSays("Em nhận được rồi ạ.");
  await say(page, QUESTION);
  await message(page, "Em nhận được rồi ạ.");
  await page.waitForFunction(() => !localStorage.getItem("frontdesk:system_persona_vi:outbox"));
  await quiet(page);
  assert.equal(await page.locator(".note.trouble").count(), 0);
  assert.equal(await asked(page, QUESTION), 1);
  assertClean(page);
});

test("start new discards a message while opening", async () => {
  const page = await stage.page();
  let release;
  const released = new Promise((done) => (release = done));
  await page.route("**/conversations", async (route) => {
    await released;
    await route.continue();
  });
  const sent = [];
  page.on("request", (request) => request.url().endsWith("/messages") && sent.push(request.postDataJSON().text));
  await say(page, QUESTION);
  await page.getByRole("button", { name: "Cuộc trò chuyện mới" }).click();
  await page.getByRole("button", { name: "Bắt đầu", exact: true }).click();
  const opened = page.waitForResponse("**/conversations");
  release();
  await opened;
  stage.model.nextSays("Trong cuộc mới ạ.");
  await say(page, "tư vấn laptop khác");
  await message(page, "Trong cuộc mới ạ.");
  await quiet(page);
  assert.deepEqual(sent, ["tư vấn laptop khác"]);
  assert.equal(await asked(page, QUESTION), 0);
  assertClean(page);
});

test("messages are sent in order", async () => {
  const page = await stage.page();
  const held = stage.model.next();
  for (const text of ["tư vấn laptop thứ nhất", "tư vấn laptop thứ hai", "tư vấn laptop thứ ba"]) await say(page, text);
  await held.asked;
  held.end();
  await quiet(page);
  const shown = (await texts(page)).filter((text) => text.startsWith("tư vấn laptop thứ"));
  assert.deepEqual(shown, ["tư vấn laptop thứ nhất", "tư vấn laptop thứ hai", "tư vấn laptop thứ ba"]);
  assertClean(page);
});

test("a too long text stays with a reason", async () => {
  const page = await stage.page();
  const long = "ạ".repeat(101);
  await say(page, long);
  await page.getByText("Tin nhắn dài 101 ký tự (tối đa 100).").waitFor();
  assert.equal(await page.locator("#text").inputValue(), long);
  // Counts characters, not UTF-16 units.
  await page.locator("#text").fill("😀".repeat(100));
  assert.equal(await page.locator("#hint").innerText(), "");
  assertClean(page);
});

test("a draft survives a reload", async () => {
  const page = await stage.page();
  await page.locator("#text").fill("tôi đang viết dở");
  await page.reload();
  await message(page, "Chào quý khách!");
  assert.equal(await page.locator("#text").inputValue(), "tôi đang viết dở");
  assertClean(page);
});

test("enter sends, except with shift or during composition", async () => {
  const page = await stage.page();
  const field = page.locator("#text");
  const height = await field.evaluate((element) => element.offsetHeight);
  await field.fill("dòng một");
  await field.press("Shift+Enter");
  await field.pressSequentially("dòng hai");
  assert.equal(await field.inputValue(), "dòng một\ndòng hai");
  assert.ok((await field.evaluate((element) => element.offsetHeight)) > height, "the field grows");
  // Like the Telex input method: Enter ends the composition.
  await field.evaluate((element) => {
    for (const [isComposing, keyCode] of [[true, 13], [false, 229]]) {
      element.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing, keyCode, bubbles: true, cancelable: true }));
    }
  });
  assert.equal(await asked(page, "dòng"), 0);
  await field.press("Enter");
  await message(page, "dòng hai");
  assert.equal(await field.inputValue(), "");
  assertClean(page);
});
