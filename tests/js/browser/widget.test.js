// The chat on another site.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Site } from "./site.js";
import { PHONE, QUESTION, Stage, assertClean, message, quiet, say, texts } from "./stage.js";

let allowed, refused, stage;
before(async () => {
  [allowed, refused] = [await Site.start(), await Site.start()];
  stage = await Stage.open({ WIDGET_ORIGINS: allowed.url });
  for (const site of [allowed, refused]) site.server = stage.server.url;
});
after(async () => {
  await stage?.close();
  for (const site of [allowed, refused]) site?.close();
});

const visit = (site, options = {}) => stage.page({ url: site.url, hosts: [site.url], ...options });
const chat = (page) => page.frameLocator("iframe");
const button = (page, name) => page.getByRole("button", { name, exact: true });

test("the widget adds a button and a panel", async () => {
  const context = await stage.context();
  await context.addInitScript(() => (window.early = Object.keys(window)));
  const page = await visit(allowed, { context });
  await button(page, "Trò chuyện với SSTC").waitFor();
  assert.deepEqual(await page.evaluate(() => Object.keys(window).filter((key) => key !== "early" && !early.includes(key))), []);
  assert.equal(await page.locator("iframe").count(), 0, "nothing is loaded before the panel is opened");
  await button(page, "Trò chuyện với SSTC").click();
  const frame = chat(page);
  await message(frame, "Chào quý khách!");
  stage.model.nextSays("Dạ em đây ạ.");
  await say(frame, QUESTION);
  await message(frame, "Dạ em đây ạ.");
  // The site's styles do not reach it.
  const size = await page.locator("iframe").evaluate((element) => element.getBoundingClientRect().width);
  assert.ok(size > 380 && size < 400, `${size}`);
  // The frame receives no cookie, so the tab stores the token.
  const inside = page.frames().find((frame) => frame.url().startsWith(stage.server.url));
  assert.ok(await inside.evaluate(() => JSON.parse(sessionStorage.getItem("frontdesk:system_persona_vi:conversation")).token));
  assert.equal(await inside.evaluate(() => localStorage.length), 0);
  await page.reload();
  await button(page, "Trò chuyện với SSTC").click();
  await message(chat(page), "Dạ em đây ạ.");
  assertClean(page);
});

test("the widget works without storage", async () => {
  const context = await stage.context();
  await context.addInitScript(() => {
    if (window.parent === window) return;
    const refuse = { get: () => { throw new DOMException("Access is denied for this document.", "SecurityError"); } };
    for (const name of ["sessionStorage", "localStorage"]) Object.defineProperty(window, name, refuse);
  });
  const page = await visit(allowed, { context });
  await button(page, "Trò chuyện với SSTC").click();
  await message(chat(page), "Chào quý khách!");
  stage.model.nextSays("Dạ em đây ạ.");
  await say(chat(page), QUESTION);
  await message(chat(page), "Dạ em đây ạ.");
  assertClean(page);
});

test("the widget works with the keyboard", async () => {
  const page = await visit(allowed);
  const focused = () => page.evaluate(() => document.activeElement.shadowRoot?.activeElement?.tagName ?? document.activeElement.tagName);
  await button(page, "Trò chuyện với SSTC").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "BUTTON");
  await page.keyboard.press("Enter");
  await chat(page).locator("#text:focus").waitFor();
  stage.model.nextSays("Dạ em đây ạ.");
  await page.keyboard.type(QUESTION);
  await page.keyboard.press("Enter");
  await message(chat(page), "Dạ em đây ạ.");
  await page.keyboard.press("Escape");
  await page.locator("iframe").waitFor({ state: "hidden" });
  assert.equal(await focused(), "BUTTON");
  await page.keyboard.press("Enter");
  await chat(page).locator("#text:focus").waitFor();
  await chat(page).getByRole("button", { name: "Đóng khung trò chuyện" }).click();
  await page.locator("iframe").waitFor({ state: "hidden" });
  assertClean(page);
});

test("the button marks answers to a closed panel", async () => {
  const page = await visit(allowed);
  await button(page, "Trò chuyện với SSTC").click();
  await message(chat(page), "Chào quý khách!");
  const reply = stage.model.next();
  await say(chat(page), QUESTION);
  await reply.asked;
  await message(chat(page), "Dạ em rất vui được giúp quý khách!");
  await page.keyboard.press("Escape");
  await page.locator("iframe").waitFor({ state: "hidden" });
  reply.say("Dạ em đây ạ.");
  reply.end();
  await page.locator("button.new").waitFor();
  await page.locator("button.new").click();
  await message(chat(page), "Dạ em đây ạ.");
  assert.equal(await page.locator("button.new").count(), 0);
  assertClean(page);
});

test("on a phone the panel fills the screen", async () => {
  const page = await visit(allowed, { size: PHONE });
  await button(page, "Trò chuyện với SSTC").click();
  await message(chat(page), "Chào quý khách!");
  const box = await page.locator("iframe").boundingBox();
  assert.deepEqual([box.x, box.y, box.width, box.height], [0, 0, PHONE.width, PHONE.height]);
  await chat(page).getByRole("button", { name: "Đóng khung trò chuyện" }).click();
  await button(page, "Trò chuyện với SSTC").waitFor();
  assertClean(page);
});

test("the host page selects persona and language", async () => {
  allowed.attributes = 'data-persona="system_persona_en"';
  const page = await visit(allowed);
  await button(page, "Trò chuyện với SSTC").click();
  await message(chat(page), "Chào quý khách!");
  allowed.attributes = 'data-language="en"';
  await page.reload();
  await button(page, "Chat with SSTC").click();
  await chat(page).getByLabel("Your message").waitFor();
  assertClean(page);
  allowed.attributes = 'data-persona="unknown"';
  const other = await visit(allowed, { expected: [/data-persona must be one of .*system_persona_en, system_persona_vi/] });
  assert.equal(await other.locator("button").count(), 0);
  assert.equal(other.wrong.length, 1);
  assertClean(other);
  allowed.attributes = "";
});

test("an unlisted site shows no widget and warns", async () => {
  const page = await visit(refused, { expected: [/frontdesk: .*WIDGET_ORIGINS/] });
  await page.waitForFunction(() => document.readyState === "complete");
  assert.equal(await page.locator("button").count(), 0);
  assert.equal(page.wrong.length, 1);
  assertClean(page);
});

test("a blocked frame removes the widget", async () => {
  const page = await visit(allowed, { expected: [/frontdesk: the chat did not load|frame-ancestors|ERR_BLOCKED_BY|Refused to/] });
  await page.route("**/?widget=1*", (route) => route.fulfill({ headers: { "content-security-policy": "frame-ancestors 'none'" }, body: "" }));
  await button(page, "Trò chuyện với SSTC").click();
  // The first failure only closes the panel.
  await page.locator("iframe").waitFor({ state: "detached" });
  await button(page, "Trò chuyện với SSTC").click();
  await page.locator("button").waitFor({ state: "detached" });
  assert.equal(await page.locator("iframe").count(), 0);
  assert.ok(page.wrong.some((text) => text.includes("WIDGET_ORIGINS")), `${page.wrong}`);
  assertClean(page);
});

test("the next click retries a failed load", async () => {
  const page = await visit(allowed, { expected: [/frontdesk: the chat did not load$|status of 502/] });
  await page.route("**/?widget=1*", (route) => route.fulfill({ status: 502, contentType: "text/html", body: "Bad gateway" }), { times: 1 });
  await button(page, "Trò chuyện với SSTC").click();
  await page.locator("iframe").waitFor({ state: "detached" });
  await button(page, "Trò chuyện với SSTC").click();
  await message(chat(page), "Chào quý khách!");
  assertClean(page);
});
