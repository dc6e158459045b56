// Reading: with the keyboard, with a screen reader, and while text arrives.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { DESK, PHONE, QUESTION, Stage, assertClean, message, quiet, say } from "./stage.js";

let stage;
before(async () => (stage = await Stage.open()));
after(() => stage?.close());

const atEnd = (page) => page.evaluate(() => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 4);
const LONG = `${"Thêm một đoạn dài, mà trên màn hình hẹp của điện thoại thì phải xuống dòng mới đọc được cho hết câu này.\n\n".repeat(40)}Dòng cuối. `;

test("the page scrolls only at the end", async () => {
  const page = await stage.page({ size: PHONE });
  const reply = stage.model.next();
  await say(page, QUESTION);
  await reply.asked;
  reply.say(LONG);
  await message(page, "Dòng cuối.");
  await page.waitForFunction(() => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 4);
  await page.locator("#scroller").evaluate((element) => (element.scrollTop = 0));
  await page.waitForFunction(() => scroller.scrollTop === 0);
  reply.say("\n\nNgay sau đó. ");
  const button = page.getByRole("button", { name: "Tin nhắn mới" });
  await button.waitFor();
  assert.equal(await page.evaluate(() => scroller.scrollTop), 0);
  reply.end();
  await quiet(page);
  await button.click();
  await button.waitFor({ state: "hidden" });
  assert.ok(await atEnd(page));
  assert.equal(await page.evaluate(() => document.activeElement.id), "scroller");
  assertClean(page);
});

test("rotating the screen keeps the end visible", async () => {
  const page = await stage.page({ size: DESK });
  stage.model.nextSays(LONG);
  await say(page, QUESTION);
  await message(page, "Dòng cuối.");
  await quiet(page);
  for (const size of [PHONE, DESK, PHONE]) {
    await page.setViewportSize(size);
    await page.waitForFunction((width) => innerWidth === width, size.width);
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    assert.ok(await atEnd(page), `${size.width} wide`);
    assert.equal(await page.getByRole("button", { name: "Tin nhắn mới" }).isVisible(), false);
  }
  assertClean(page);
});

test("text that arrives during scrolling is followed", async () => {
  const page = await stage.page({ size: PHONE });
  stage.model.nextSays(LONG);
  await say(page, QUESTION);
  await message(page, "Dòng cuối.");
  await quiet(page);
  // The browser reports the scrolling after both, when the reader seems to be far from the end.
  await page.evaluate(() => {
    scroller.scrollTop -= 10;
    const more = document.createElement("div");
    more.style.height = "500px";
    transcript.append(more);
    return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  });
  assert.ok(await atEnd(page));
  assert.equal(await page.getByRole("button", { name: "Tin nhắn mới" }).isVisible(), false);
  assertClean(page);
});

test("a growing reply keeps the selection", async () => {
  const page = await stage.page();
  const reply = stage.model.next();
  await say(page, QUESTION);
  await reply.asked;
  reply.say("Đoạn đầu.\n\nĐoạn sau ");
  await message(page, "Đoạn sau");
  await page.locator(".reply .bubble p").first().selectText();
  reply.say("dài thêm. ");
  await message(page, "Đoạn sau dài thêm.");
  assert.equal(await page.evaluate(() => String(getSelection())), "Đoạn đầu.");
  reply.end();
  await quiet(page);
  assertClean(page);
});

test("everything works with the keyboard", async () => {
  const page = await stage.page();
  const reply = stage.model.next();
  await page.locator("#text:focus").waitFor();
  await page.keyboard.type(QUESTION);
  await page.keyboard.press("Enter");
  await reply.asked;
  reply.say("Dạ em đây ạ.");
  reply.end();
  await message(page, "Dạ em đây ạ.");
  await quiet(page);
  const reached = new Set();
  for (let count = 0; count < 12; count += 1) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.tagName.toLowerCase()));
  }
  for (const place of ["new-chat", "scroller", "summary", "text", "send"]) assert.ok(reached.has(place), `${place} of ${[...reached]}`);
  await page.locator("#new-chat").focus();
  await page.keyboard.press("Enter");
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement.id), "new-chat");
  assertClean(page);
});

test("screen readers announce only complete messages, once", async () => {
  const page = await stage.page();
  await page.evaluate(() => {
    window.announced = [];
    const note = (changes) => announced.push(...changes.flatMap(({ addedNodes }) => [...addedNodes].map((node) => node.textContent)));
    new MutationObserver(note).observe(document.getElementById("announcements"), { childList: true, subtree: true });
  });
  const reply = stage.model.next();
  await say(page, QUESTION);
  await reply.asked;
  for (const piece of ["Dạ ", "em ", "đây ", "ạ."]) reply.say(piece);
  await message(page, "Dạ em đây");
  const heard = () => page.evaluate(() => announced.filter((text) => text.includes("đây")));
  assert.deepEqual(await heard(), []);
  reply.end();
  await quiet(page);
  assert.deepEqual(await heard(), ["SSTC: Dạ em đây ạ."]);
  assert.equal(await page.locator("#scroller").getAttribute("aria-live"), "off");
  assertClean(page);
});

test("screen readers announce cut replies and failures", async () => {
  const page = await stage.page({ expected: [/status of 500/] });
  const announced = (text) => page.locator("#announcements p", { hasText: text });
  const reply = stage.model.next();
  await say(page, QUESTION);
  await reply.asked;
  reply.say("Đoạn đầu.\n\nĐoạn sau ");
  await message(page, "Đoạn sau");
  await page.getByRole("button", { name: "Dừng" }).click();
  await announced("Đoạn sau").waitFor({ state: "attached" });
  assert.match(await announced("Đoạn sau").textContent(), /Đoạn đầu\.\s+Đoạn sau\s+Đã dừng trả lời/);
  await quiet(page);
  await page.route("**/messages", (route) => route.fulfill({ status: 500, json: { code: "internal" } }));
  await say(page, QUESTION);
  await page.locator(".note.trouble").waitFor();
  assert.equal(await announced("Bên em gặp trục trặc").count(), 1);
  assertClean(page);
});

test("the conversation keeps room at 400 % zoom", async () => {
  const page = await stage.page({ size: { width: 320, height: 180 } });
  const reply = await stage.speaking(page, "Dạ em");
  await page.locator("#text").fill("một câu dài ".repeat(40));
  const height = await page.locator("main").evaluate((element) => element.clientHeight);
  assert.ok(height >= 80, `${height} pixels`);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assert.equal(await page.locator("#transcript").getAttribute("lang"), "vi");
  reply.end();
  await quiet(page);
  assertClean(page);
});

test("reduced motion disables animations", async () => {
  const page = await stage.page();
  const reply = await stage.speaking(page, "Dạ em");
  assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
  reply.end();
  await quiet(page);
  assertClean(page);
});
