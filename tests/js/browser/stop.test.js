// Stopped and interrupted replies.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { QUESTION, Stage, assertClean, message, quiet, say } from "./stage.js";

let stage;
before(async () => (stage = await Stage.open()));
after(() => stage?.close());

test("the stop button keeps the partial reply", async () => {
  const page = await stage.page();
  await stage.speaking(page, "Dạ em đang nói");
  await page.getByRole("button", { name: "Dừng" }).click();
  const stopped = page.locator(".message.reply", { hasText: "Đã dừng trả lời" });
  await stopped.waitFor();
  assert.match(await stopped.innerText(), /Dạ em đang nói/);
  await quiet(page);
  assert.equal(await page.evaluate(() => document.activeElement.id), "text");
  await page.reload();
  await stopped.waitFor();
  assertClean(page);
});

test("a silent stopped turn can be asked again", async () => {
  const page = await stage.page();
  const reply = stage.model.next();
  await say(page, QUESTION);
  await reply.asked;
  await page.getByRole("button", { name: "Dừng" }).click();
  await page.locator("#transcript").getByText("Đã dừng trả lời").waitFor();
  await quiet(page);
  await page.reload();
  stage.model.nextSays("Lần này thì xong ạ.");
  await page.getByRole("button", { name: "Hỏi lại" }).click();
  await message(page, "Lần này thì xong ạ.");
  await quiet(page);
  await page.reload();
  await message(page, "Lần này thì xong ạ.");
  assert.equal(await page.getByRole("button", { name: "Hỏi lại" }).isVisible(), false);
  assertClean(page);
});

test("escape stops a reply", async () => {
  const page = await stage.page();
  await stage.speaking(page, "Dạ em đang nói");
  await page.keyboard.press("Escape");
  await page.locator("#transcript").getByText("Đã dừng trả lời").waitFor();
  await quiet(page);
  assertClean(page);
});

test("an interrupted reply offers to ask again", async () => {
  const page = await stage.page();
  const reply = await stage.speaking(page, "Dạ em đang nói");
  reply.breakOff();
  await page.locator(".message.trouble", { hasText: "Dạ em xin lỗi" }).waitFor();
  await page.locator("#transcript").getByText("Câu trả lời bị gián đoạn").waitFor();
  await quiet(page);
  stage.model.nextSays("Lần này thì xong ạ.");
  await page.getByRole("button", { name: "Hỏi lại" }).click();
  await message(page, "Lần này thì xong ạ.");
  await quiet(page);
  assert.equal(await page.locator(".message.user", { hasText: QUESTION }).count(), 2);
  assert.equal(await page.getByRole("button", { name: "Hỏi lại" }).isVisible(), false);
  assertClean(page);
});
