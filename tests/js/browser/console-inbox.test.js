// The inbox: new messages, search and receipts.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { enter, goTo, read, talk } from "./desk.js";
import { PHONE, QUESTION, Stage, assertClean, message, quiet, say } from "./stage.js";

const NASTY = `<img src=x onerror="document.title='broken'"> [a](javascript:alert(1)) ![b](https://evil.example/x.png) evil`;

let stage;
before(async () => (stage = await Stage.open()));
after(() => stage?.close());

test("new messages appear in the inbox at once", async () => {
  const page = await enter(stage);
  await page.locator(".list .empty").waitFor();
  const first = await talk(stage, "xin chào");
  await page.locator(`.row[href="#/inbox/${first.id}"]`).waitFor();
  const second = await talk(stage, "hello there");
  await page.locator(`.rows li:first-child .row[href="#/inbox/${second.id}"]`).waitFor();
  await say(first.customer, "bảo hành");
  await page.locator(`.rows li:first-child .row[href="#/inbox/${first.id}"]`).waitFor();
  for (const each of [page, first.customer, second.customer]) assertClean(each);
});

test("search ignores accents and filters by status", async () => {
  const { id, customer } = await talk(stage, "Đường Nguyễn Huệ có cửa hàng không ạ?");
  const page = await enter(stage);
  const search = page.locator("input[type=search]");
  await search.fill("duong nguyen hue");
  await page.waitForFunction(() => document.querySelectorAll(".rows .row").length === 1);
  assert.equal(await page.locator(".row").getAttribute("href"), `#/inbox/${id}`);
  // All words must match, in any order; the counts follow.
  await search.fill("hàng đường");
  await page.waitForFunction(() => document.querySelector('[data-status="all"] .count').textContent === "1");
  assert.equal(await page.locator(".row").getAttribute("href"), `#/inbox/${id}`);
  await search.fill("không có chữ này đâu");
  await page.locator(".list .empty", { hasText: "Không có kết quả" }).waitFor();
  await search.fill("");
  await page.locator(".row").first().waitFor();
  await page.locator('[data-status="closed"]').click();
  await page.locator(".list .empty", { hasText: "Chưa có hội thoại nào đã đóng" }).waitFor();
  await page.locator('[data-status="all"]').click();
  await read(page, id);
  await page.locator('[data-action="close"]').click();
  await page.locator(".conversation-head .badge.closed").waitFor();
  await page.locator('[data-status="closed"]').click();
  await page.locator(`.row[href="#/inbox/${id}"]`).waitFor();
  await say(customer, "alo");
  await page.locator(".conversation-head .badge.bot").waitFor();
  await page.locator('[data-status="all"]').click();
  assertClean(page);
});

test("each reply has a receipt", async () => {
  stage.model.nextSays("Dạ em gợi ý Dell Inspiron, giá 1.234.567đ ạ. ");
  const { id } = await talk(stage, QUESTION);
  const page = await enter(stage, { view: `inbox/${id}` });
  const receipt = page.locator(".message.reply .receipt");
  await receipt.locator("summary").click();
  const text = await receipt.innerText();
  for (const what of ["Mua hàng", "quy tắc", "Chọn laptop", "1.234.567đ", "số liệu chưa được kiểm chứng", "Tìm tài liệu", "Soạn câu trả lời"]) {
    assert.ok(text.includes(what), `${what}: ${text}`);
  }
  assert.ok((await receipt.locator(".bar").count()) > 3);
  assertClean(page);
});

test("the console streams replies, then shows their receipts", async () => {
  const reply = stage.model.next();
  const customer = await stage.page();
  await say(customer, QUESTION);
  await reply.asked;
  const page = await enter(stage);
  await page.locator(".row").first().click();
  reply.say("Dạ em gợi ý ");
  await message(page, "Dạ em gợi ý");
  reply.say("Dell Inspiron ạ. ");
  reply.end();
  await message(page, "Dạ em gợi ý Dell Inspiron ạ.");
  await page.locator(".message.reply .receipt").waitFor();
  await quiet(customer);
  for (const each of [page, customer]) assertClean(each);
});

test("a background tab resumes without repeating text", async () => {
  const reply = stage.model.next();
  const customer = await stage.page();
  await say(customer, QUESTION);
  await reply.asked;
  const page = await enter(stage);
  await page.locator(".row").first().click();
  reply.say("Dạ em ");
  await message(page, "Dạ em");
  const show = (hidden) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
    }, hidden);
  await show(true);
  reply.say("gợi ý ");
  await message(customer, "Dạ em gợi ý");
  await show(false);
  await message(page, "Dạ em gợi ý");
  reply.say("Dell Inspiron ạ. ");
  reply.end();
  await page.locator(".message.reply .receipt").waitFor();
  assert.equal((await page.locator(".message.reply .bubble").innerText()).trim(), "Dạ em gợi ý Dell Inspiron ạ.");
  await quiet(customer);
  for (const each of [page, customer]) assertClean(each);
});

test("rows show last messages, unread marks and waits", async () => {
  const page = await enter(stage);
  const first = await talk(stage, "cho mình gặp nhân viên");
  const second = await talk(stage, "talk to a human please");
  await talk(stage, "xin chào");
  const waiting = page.locator(".row:has(.badge.waiting)");
  await waiting.nth(1).waitFor();
  const listed = await page.locator(".rows .row").evaluateAll((rows) => rows.map((row) => row.getAttribute("href").split("/").pop()));
  assert.deepEqual(listed.filter((id) => [first.id, second.id].includes(id)), [first.id, second.id]);
  assert.ok(listed.indexOf(second.id) < (await waiting.count()), "all who wait come first");
  const row = page.locator(`.row[href="#/inbox/${second.id}"]`);
  assert.equal(await row.locator(".row-text").innerText(), "talk to a human please");
  assert.match(await row.locator(".row-more").innerText(), /Đang chờ\s*chờ\s*\d+ phút\s*Tin nhắn mới/);
  await row.click();
  await page.locator(`.row[href="#/inbox/${second.id}"]:not(.unread)`).waitFor();
  await goTo(page, "inbox");
  await say(second.customer, "are you there?");
  await page.locator(`.row.unread[href="#/inbox/${second.id}"]`).waitFor();
  assertClean(page);
});

test("rows stay reachable at 400 % zoom", async () => {
  await talk(stage, "xin chào");
  const page = await enter(stage, { size: { width: 320, height: 256 } });
  const row = page.locator(".row").first();
  await row.waitFor();
  await row.click();
  await page.locator(".thread .message").first().waitFor();
  await page.locator(".answering").scrollIntoViewIfNeeded();
  assertClean(page);
});

test("a customer's text is shown exactly as written", async () => {
  const { id } = await talk(stage, NASTY);
  const page = await enter(stage, { size: PHONE });
  await page.locator(`.row[href="#/inbox/${id}"] .row-text`).waitFor();
  await read(page, id);
  assert.equal(await page.locator(".message.user .bubble").last().evaluate((element) => element.textContent), NASTY);
  assert.equal(await page.locator(".thread a, .thread img, .rows img").count(), 0);
  assert.ok((await page.title()).endsWith("Trang hỗ trợ khách hàng"));
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assertClean(page);
});

test("on a phone, back keeps the row", async () => {
  const { id } = await talk(stage, "xin chào");
  const page = await enter(stage, { size: PHONE });
  const row = page.locator(`.row[href="#/inbox/${id}"]`);
  await row.click();
  await page.locator(".thread .message").first().waitFor();
  assert.equal(await row.isVisible(), false);
  await page.getByRole("link", { name: "Về danh sách hội thoại" }).click();
  await row.waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), `#/inbox/${id}`);
  assertClean(page);
});

test("console and chat work in one browser", async () => {
  const context = await stage.context();
  const page = await enter(stage, { context });
  const customer = await stage.page({ context });
  await say(customer, "xin chào");
  await quiet(customer);
  const id = await customer.evaluate(() => JSON.parse(localStorage.getItem("frontdesk:system_persona_vi:conversation")).id);
  await read(page, id);
  await page.locator(".receipt").first().waitFor();
  const seen = await customer.evaluate(async (id) => (await (await fetch(`/conversations/${id}/history`)).json()).messages, id);
  assert.ok(seen.length > 1 && seen.every((message) => !("receipt" in message)));
  for (const each of [page, customer]) assertClean(each);
});

test("a lost connection shows, missed changes load", async () => {
  const page = await enter(stage, { expected: [/Failed to load resource: net::ERR_|ERR_INTERNET_DISCONNECTED/] });
  await page.locator(".row").first().waitFor();
  await page.context().setOffline(true);
  await page.locator("#connection.lost").waitFor();
  const { id } = await talk(stage, "chào shop nhé");
  await page.context().setOffline(false);
  await page.locator("#connection:not(.lost)").waitFor({ state: "attached" });
  await page.locator(`.row[href="#/inbox/${id}"]`).waitFor();
  assertClean(page);
});
