// A conversation without failures.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { QUESTION, Stage, assertClean, message, quiet, say, texts } from "./stage.js";

let stage;
before(async () => (stage = await Stage.open({ LLM_MAX_CONCURRENT: "1" })));
after(() => stage?.close());

test("the persona greets before a conversation exists", async () => {
  const page = await stage.page();
  await message(page, "Chào quý khách! Em là nhân viên SSTC");
  assert.equal(await page.title(), "SSTC");
  assert.equal(await page.locator("html").getAttribute("lang"), "vi");
  const { conversations } = await stage.server.api("GET", "/conversations");
  assert.deepEqual(conversations, []);
  assertClean(page);
});

test("a reply streams and ends with its sources", async () => {
  const page = await stage.page();
  const reply = stage.model.next();
  await say(page, QUESTION);
  await reply.asked;
  await page.locator(".typing", { hasText: "SSTC đang soạn tin…" }).waitFor();
  reply.say("Dạ em gợi ý **Dell ");
  await page.locator(".message.reply strong", { hasText: "Dell" }).waitFor();
  assert.equal(await page.locator(".typing").count(), 0);
  reply.say("Inspiron** ");
  await page.locator(".message.reply strong", { hasText: "Dell Inspiron" }).waitFor();
  assert.equal(await page.locator("#announcements").innerText(), "SSTC: Dạ em rất vui được giúp quý khách! 💖 Em sẽ hỗ trợ ngay ạ.");
  reply.say("ạ.");
  reply.end();
  await quiet(page);
  assert.equal(await page.locator(".reply .bubble").innerText(), "Dạ em gợi ý Dell Inspiron ạ.");
  const sizes = await page.evaluate(() =>
    [".reply", ".follow_up"].map((kind) => parseFloat(getComputedStyle(document.querySelector(`${kind} .bubble`)).fontSize)),
  );
  assert.ok(sizes[1] < sizes[0], "the follow-up is quieter");
  const sources = page.locator(".reply .sources");
  assert.equal(await sources.locator("li").first().isVisible(), false);
  await sources.locator("summary").click();
  assert.match(await sources.locator("li").first().innerText(), /laptop/i);
  assert.match(await page.locator("#announcements").innerText(), /SSTC: Dạ em gợi ý Dell Inspiron ạ\./);
  assertClean(page);
});

test("lists, headings, bold and code become elements", async () => {
  const page = await stage.page();
  stage.model.nextSays("## Gợi ý\n\n1. **Dell** nhẹ\n2. `ASUS` rẻ\n\n- hợp học tập\n\n```\ntên sản phẩm\n```\n");
  await say(page, QUESTION);
  await page.locator(".reply pre").waitFor();
  await quiet(page);
  const built = await page.evaluate(() =>
    [".heading", "ol > li:nth-child(1) > strong", "ol > li:nth-child(2) > code", "ul > li", "pre > code"].map((place) => document.querySelector(`.reply .bubble ${place}`)?.textContent),
  );
  assert.deepEqual(built, ["Gợi ý", "Dell", "ASUS", "hợp học tập", "tên sản phẩm"]);
  assertClean(page);
});

test("a waiting customer sees the queue position", async () => {
  const [first, second] = [await stage.page(), await stage.page()];
  const [held, next] = [stage.model.next(), stage.model.next()];
  await say(first, QUESTION);
  await held.asked;
  await say(second, QUESTION);
  await second.locator(".typing", { hasText: "Sắp đến lượt quý khách" }).waitFor();
  held.say("Dạ em đây ạ.");
  held.end();
  await next.asked;
  next.say("Giờ đến lượt quý khách ạ.");
  next.end();
  await message(second, "Giờ đến lượt quý khách ạ.");
  await quiet(second);
  for (const page of [first, second]) assertClean(page);
});

test("the page follows the conversation's language", async () => {
  const page = await stage.page();
  await page.getByLabel("Tin nhắn của quý khách").waitFor();
  await say(page, "please speak english with me");
  await message(page, "sure, you can speak english with me");
  await page.getByLabel("Your message").waitFor();
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
  assert.equal(await page.getByRole("button", { name: "New conversation" }).count(), 1);
  await quiet(page);
  await page.reload();
  await page.getByLabel("Your message").waitFor();
  await message(page, "sure, you can speak english with me");
  await say(page, "nói tiếng việt nhé");
  await message(page, "em sẽ nói tiếng Việt");
  await page.getByLabel("Tin nhắn của quý khách").waitFor();
  assertClean(page);
});

test("the browser's language applies until the first message", async () => {
  const page = await stage.page({ locale: "en-GB" });
  await message(page, "I'm SSTC's AI assistant");
  await say(page, "bảo hành");
  await message(page, "Quý khách vui lòng cung cấp số serial");
  await page.getByLabel("Tin nhắn của quý khách").waitFor();
  await page.reload();
  await message(page, "I'm SSTC's AI assistant");
  assertClean(page);
});

test("the language button overrides the conversation's language", async () => {
  const page = await stage.page();
  await message(page, "Chào quý khách!");
  await page.getByRole("button", { name: "English" }).click();
  await message(page, "I'm SSTC's AI assistant");
  await say(page, "bảo hành");
  await message(page, "Quý khách vui lòng cung cấp số serial");
  await page.reload();
  await page.getByLabel("Your message").waitFor();
  await page.getByRole("button", { name: "Tiếng Việt" }).waitFor();
  assertClean(page);
});

test("the language button offers only other texts", async () => {
  // The page has no texts in Swahili and Sheng, so these conversations keep the English ones.
  for (const [language, greeting] of [["en", "Hi! I'm the shop's AI assistant."], ["sw", "Habari!"], ["sheng", "Niaje!"]]) {
    const page = await stage.page({ path: `/?persona=commerce_en&language=${language}` });
    await message(page, greeting);
    await page.getByLabel("Your message").waitFor();
    assert.equal(await page.locator("#language").isVisible(), false, language);
    assert.equal(await page.locator("html").getAttribute("lang"), "en");
    assertClean(page);
  }
});

test("the address selects persona and language", async () => {
  const page = await stage.page({ path: "/?persona=system_persona_en", locale: "fr-FR" });
  await page.getByLabel("Your message").waitFor();
  const other = await stage.page({ path: "/?language=en" });
  await other.getByLabel("Your message").waitFor();
  const [before] = await texts(other);
  stage.model.nextSays("Sure.");
  await say(other, "which laptop do you recommend?");
  await message(other, "Sure.");
  assert.equal((await texts(other))[0], before);
  const { conversations } = await stage.server.api("GET", "/conversations?limit=1");
  assert.deepEqual([conversations[0].persona, conversations[0].preferred_language], ["system_persona_vi", "en"]);
  for (const each of [page, other]) assertClean(each);
});

test("a new conversation needs a confirmation", async () => {
  const page = await stage.page();
  await stage.answered(page, "Dạ em đây ạ.");
  await page.getByRole("button", { name: "Cuộc trò chuyện mới" }).click();
  await page.getByRole("button", { name: "Hủy" }).click();
  await message(page, "Dạ em đây ạ.");
  await page.getByRole("button", { name: "Cuộc trò chuyện mới" }).click();
  await page.getByRole("button", { name: "Bắt đầu" }).click();
  await page.locator(".message.reply").waitFor({ state: "detached" });
  assert.equal((await texts(page)).length, 1);
  assert.equal(await page.evaluate(() => document.activeElement.id), "text");
  await page.reload();
  await message(page, "Chào quý khách!");
  assert.equal((await texts(page)).length, 1);
  assertClean(page);
});
