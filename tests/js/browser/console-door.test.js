// Signing in to the console, and sessions.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { enter, goTo, signIn } from "./desk.js";
import { Stage, assertClean } from "./stage.js";

const REFUSED = /status of 401/;

let stage;
before(async () => (stage = await Stage.open()));
after(() => stage?.close());

test("a valid key signs in and out", async () => {
  const page = await enter(stage, { name: "Lan" });
  await page.locator("#who", { hasText: "Lan" }).waitFor();
  await page.locator(".list .empty").waitFor();
  await page.reload();
  await page.locator("#who", { hasText: "Lan" }).waitFor();
  await page.locator("#sign-out").click();
  await page.getByText("Đã đăng xuất.").waitFor();
  assert.equal(await page.locator("#rail").isVisible(), false);
  await page.reload();
  await page.locator("input[name=key]").waitFor();
  assert.equal(await page.locator("input[name=name]").inputValue(), "Lan", "the name is remembered");
  assertClean(page);
});

test("a refused sign-out keeps the session", async () => {
  const page = await enter(stage, { expected: [/status of 503/] });
  await page.locator(".list h1").waitFor();
  const busy = { status: 503, headers: { "retry-after": "1" }, contentType: "application/problem+json", body: JSON.stringify({ status: 503, code: "unavailable" }) };
  const refuse = (route) => (route.request().method() === "DELETE" ? route.fulfill(busy) : route.fallback());
  await page.route("**/console/session", refuse);
  await page.locator("#sign-out").click();
  const failed = page.locator("dialog");
  await failed.locator(".failure").waitFor();
  assert.equal(await page.getByText("Đã đăng xuất.").count(), 0);
  assert.equal(await page.locator("#rail").isVisible(), true);
  await page.unroute("**/console/session", refuse);
  await failed.locator(".failure button").click();
  await page.getByText("Đã đăng xuất.").waitFor();
  assertClean(page);
});

test("the header shows development and has no sign-out", async () => {
  const open = await Stage.open({ X_API_KEYS: undefined });
  try {
    const page = await open.page({ path: "/console" });
    await page.locator("#development").waitFor();
    assert.equal(await page.locator("#sign-out").isVisible(), false);
    assertClean(page);
  } finally {
    await open.close();
  }
});

test("signing out aborts running requests", async () => {
  const page = await enter(stage);
  await page.locator(".list h1").waitFor();
  const held = [];
  await page.route("**/console/api/conversations?*", (route) => held.push(route.request()));
  await page.reload();
  // A request from before the reload may be among them, and has failed.
  const running = () => held.find((request) => !request.failure());
  while (!running()) await page.waitForTimeout(50);
  const request = running();
  const aborted = page.waitForEvent("requestfailed", (failed) => failed === request);
  await page.locator("#sign-out").click();
  await aborted;
  await page.getByText("Đã đăng xuất.").waitFor();
  assert.equal(await page.locator(".failure").count(), 0);
  assertClean(page);
});

test("a wrong key shows only an error", async () => {
  const page = await stage.page({ path: "/console#/figures", expected: [REFUSED] });
  await signIn(page, { key: "wrong" });
  await page.locator(".failure", { hasText: "Khóa này không đúng" }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.name), "key");
  assert.equal(await page.locator(".column, .panes").count(), 0);
  await signIn(page);
  await page.locator(".column.figures").waitFor();
  assertClean(page);
});

test("an expired session resumes after a new sign-in", async () => {
  const short = await Stage.open({ CONSOLE_SESSION_HOURS: "0.002" });
  try {
    const page = await enter(short, { view: "knowledge", expected: [REFUSED] });
    await page.locator("h1", { hasText: "Kiến thức" }).waitFor();
    await page.getByText("Phiên làm việc đã hết").waitFor();
    assert.equal(await page.locator(".column").count(), 0);
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "H1");
    await signIn(page);
    await page.locator("h1", { hasText: "Kiến thức" }).waitFor();
    assertClean(page);
  } finally {
    await short.close();
  }
});

test("a clock ahead keeps the console usable", async () => {
  const context = await stage.context();
  await context.clock.install({ time: Date.now() + 13 * 3600 * 1000 });
  const page = await enter(stage, { context });
  await page.locator(".list h1").waitFor();
  await page.reload();
  await page.locator("#who", { hasText: "Lan" }).waitFor();
  await page.locator(".list h1").waitFor();
  assert.equal(await page.locator("input[name=key]").count(), 0);
  assertClean(page);
});

test("an unreachable server is no expired session", async () => {
  const page = await enter(stage, { expected: [/ERR_CONNECTION_REFUSED/] });
  await page.locator(".list h1").waitFor();
  // After a link from another site, the page comes without the session.
  await page.route("**/console", async (route) => {
    const body = await (await route.fetch()).text();
    await route.fulfill({ contentType: "text/html; charset=utf-8", body: body.replace(/"me":\{[^}]*\}/, '"me":null') });
  });
  await page.route("**/console/api/me", (route) => route.abort("connectionrefused"));
  await page.reload();
  await page.locator(".failure", { hasText: "Máy chủ không phản hồi" }).waitFor();
  assert.equal(await page.locator("input[name=key]").count(), 0);
  await page.unroute("**/console/api/me");
  await page.getByRole("button", { name: "Thử lại" }).click();
  await page.locator("#who", { hasText: "Lan" }).waitFor();
  await page.locator(".list h1").waitFor();
  assertClean(page);
});

test("the audit log is filtered and continued", async () => {
  const page = await enter(stage, { name: "Hoa" });
  const id = await stage.server.conversation({});
  for (const act of ["take", "give-back"]) await stage.server.api("POST", `/console/api/conversations/${id}/${act}`);
  // A page of the log with only one entry.
  await page.route(/\/console\/api\/audit\?/, (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set("limit", "1");
    return route.continue({ url: url.href });
  });
  await goTo(page, "audit");
  const [lines, more] = [page.locator("tbody tr"), page.getByRole("button", { name: "Xem thêm" })];
  for (const count of [1, 2]) {
    await lines.nth(count - 1).waitFor();
    assert.equal(await lines.count(), count);
    assert.equal(await lines.nth(count - 1).locator(`a[href="#/inbox/${id}"]`).count(), 1);
    await more.click();
  }
  await lines.nth(2).filter({ hasText: "Hoa" }).waitFor();
  await page.locator("input[type=search]").fill("Hoa");
  await page.locator("input[type=search]").blur();
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
  assert.ok((await lines.innerText()).includes("Hoa"));
  assert.equal(await more.count(), 0, "there is only one entry of this person");
  await page.locator("input[type=date]").fill("2020-02-29");
  await page.locator(".empty", { hasText: "Không có mục nào" }).waitFor();
  assertClean(page);
});

test("changing the view moves focus and address", async () => {
  const page = await enter(stage);
  for (const [view, title] of [["knowledge", "Kiến thức"], ["warranty", "Cập nhật bảo hành"], ["personas", "Trợ lý AI"], ["figures", "Báo cáo"], ["inbox", "Hội thoại"]]) {
    await page.locator(`#rail a[href="#/${view}"]`).focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction((title) => document.activeElement.tagName === "H1" && document.activeElement.textContent === title, title);
    assert.equal(await page.locator("#rail a[aria-current]").getAttribute("href"), `#/${view}`);
    assert.ok((await page.title()).startsWith(title));
  }
  await goTo(page, "nowhere");
  await page.locator(".list h1").waitFor();
  assertClean(page);
});

test("the console remembers its language", async () => {
  const page = await enter(stage);
  await page.locator("h1", { hasText: "Hội thoại" }).waitFor();
  await page.locator("#language").click();
  await page.locator("h1", { hasText: "Inbox" }).waitFor();
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
  await page.reload();
  await page.locator("h1", { hasText: "Inbox" }).waitFor();
  assertClean(page);
});
