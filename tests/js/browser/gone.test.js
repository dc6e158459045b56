// Deleted conversations, and pages that may not open one.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PHONE, QUESTION, VARIANTS, Stage, assertAccessible, assertClean, message, picture } from "./stage.js";

const REFUSED = /status of (401|404)/;
const HELD = "frontdesk:system_persona_vi:conversation";

let stage;
before(async () => (stage = await Stage.open()));
after(() => stage?.close());

async function talk() {
  const page = await stage.page({ expected: [REFUSED] });
  await stage.answered(page, "Dạ em đây ạ.");
  const id = await page.evaluate((key) => JSON.parse(localStorage.getItem(key)).id, HELD);
  return { page, id };
}

test("a deleted conversation is replaced with a notice", async () => {
  const { page, id } = await talk();
  await stage.server.api("DELETE", `/conversations/${id}`);
  await page.reload();
  await page.locator("#transcript").getByText("Dạ cuộc trò chuyện trước không còn được lưu nữa").waitFor();
  assert.equal(await page.locator(".message.reply").count(), 0);
  assertClean(page);
});

test("a message to a deleted conversation opens another", async () => {
  const { page, id } = await talk();
  // The page notices the deletion only when it sends.
  await page.route("**/events?*", (route) => route.abort("connectionrefused"));
  page.expected.push(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED/);
  await page.route(`**/conversations/${id}`, (route) => route.abort("connectionrefused"));
  await stage.server.api("DELETE", `/conversations/${id}`);
  await page.unroute("**/events?*");
  await stage.answered(page, "Trong cuộc mới ạ.");
  await page.locator("#transcript").getByText("Dạ cuộc trò chuyện trước không còn được lưu nữa").waitFor();
  assert.equal(await page.locator(".message.user", { hasText: QUESTION }).count(), 1);
  assertClean(page);
});

test("a rejected token starts a new conversation", async () => {
  const { page } = await talk();
  await page.context().clearCookies();
  await page.reload();
  await page.locator("#transcript").getByText("Dạ cuộc trò chuyện trước không còn được lưu nữa").waitFor();
  assertClean(page);
});

test("a token is renewed before it expires", async () => {
  const { page, id } = await talk();
  await page.evaluate((key) => {
    const held = JSON.parse(localStorage.getItem(key));
    localStorage.setItem(key, JSON.stringify({ ...held, since: held.since - 2 * 3600 * 1000 }));
  }, HELD);
  const renewed = page.waitForResponse((response) => response.url().endsWith(`/conversations/${id}/token`));
  await page.reload();
  assert.equal((await renewed).status(), 200);
  await message(page, "Dạ em đây ạ.");
  assertClean(page);
});

// Asserts the notice of a page without a conversation and its accessibility, in each language and theme.
async function assertNotice(stage, path, titles, name) {
  for (const [language, scheme] of VARIANTS) {
    const page = await stage.page({ path: `${path}language=${language}`, scheme, size: PHONE, expected: [REFUSED] });
    await page.getByRole("heading", { name: titles[language] }).waitFor();
    await assertAccessible(page, `${name}, ${language}, ${scheme}`);
    await picture(page, `${name}-${language}-${scheme}-phone`);
    assertClean(page);
    await page.context().close();
  }
}

test("an unknown persona shows a notice", async () => {
  await assertNotice(stage, "/?persona=unknown&", { vi: "Không tìm thấy trợ lý", en: "Assistant not found" }, "unknown");
});

test("a closed chat shows a notice without widget", async () => {
  const closed = await Stage.open({ WEB_CHAT: "off" });
  try {
    await assertNotice(closed, "/?", { vi: "Trò chuyện đang tạm đóng", en: "Chat is closed" }, "closed");
    assert.match(await (await fetch(closed.server.url)).text(), /WEB_CHAT=on/);
    assert.match(await (await fetch(`${closed.server.url}/widget.js`)).text(), /"open":false/);
  } finally {
    await closed.close();
  }
});
