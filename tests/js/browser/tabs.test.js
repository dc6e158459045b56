// Several pages with one conversation.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { QUESTION, Stage, assertClean, message, quiet, say, texts } from "./stage.js";

let stage;
before(async () => (stage = await Stage.open()));
after(() => stage?.close());

test("two tabs of one conversation show the same", async () => {
  const context = await stage.context();
  const [one, two] = [await stage.page({ context }), await stage.page({ context })];
  const reply = await stage.speaking(one, "Dạ em");
  await message(two, "Dạ em");
  reply.say("đây ạ.");
  reply.end();
  for (const page of [one, two]) await message(page, "Dạ em đây ạ.");
  for (const page of [one, two]) await quiet(page);
  stage.model.nextSays("Từ tab hai ạ.");
  await say(two, "còn loại nào rẻ hơn không");
  for (const page of [one, two]) await message(page, "Từ tab hai ạ.");
  for (const page of [one, two]) await quiet(page);
  assert.deepEqual(await texts(one), await texts(two));
  assert.equal((await texts(one)).filter((text) => text === QUESTION).length, 1);
  for (const page of [one, two]) assertClean(page);
});

test("a tab follows another tab's new conversation", async () => {
  const context = await stage.context();
  const [one, two] = [await stage.page({ context }), await stage.page({ context })];
  await stage.answered(one, "Dạ em đây ạ.");
  await message(two, "Dạ em đây ạ.");
  await one.getByRole("button", { name: "Cuộc trò chuyện mới" }).click();
  await one.getByRole("button", { name: "Bắt đầu" }).click();
  for (const page of [one, two]) await page.locator(".message.reply").waitFor({ state: "detached" });
  stage.model.nextSays("Cuộc mới ạ.");
  await say(two, QUESTION);
  for (const page of [one, two]) await message(page, "Cuộc mới ạ.");
  for (const page of [one, two]) assertClean(page);
});
