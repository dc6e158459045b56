// The size of a first visit, and the page's security policy.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PHONE, Stage, assertAccessible, assertClean, message, picture } from "./stage.js";

const MOST_BYTES = 60 * 1024;

let stage;
before(async () => (stage = await Stage.open()));
after(() => stage?.close());

async function visit(context) {
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.enable");
  const seen = { bytes: 0, requests: [], wrong: [] };
  devtools.on("Network.loadingFinished", ({ encodedDataLength }) => (seen.bytes += encodedDataLength));
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("console", (line) => seen.wrong.push(line.text()));
  await page.goto(stage.server.url, { waitUntil: "networkidle" });
  await message(page, "Chào quý khách!");
  return { page, ...seen, bytes: seen.bytes };
}

test("a first visit loads at most 60 KiB", async () => {
  const context = await stage.context();
  const first = await visit(context);
  const again = await visit(context);
  console.log(`first visit: ${first.bytes} bytes in ${first.requests.length} requests; again: ${again.bytes} bytes`);
  assert.ok(first.bytes > 5000 && first.bytes <= MOST_BYTES, `${first.bytes} bytes`);
  assert.deepEqual(first.requests.filter((url) => !url.startsWith(stage.server.url)), []);
  assert.ok(again.bytes < first.bytes / 2, "what does not change is kept");
  assert.deepEqual(first.wrong, []);
});

for (const scheme of ["light", "dark"]) {
  test(`the API's page is accessible in ${scheme}`, async () => {
    const page = await stage.page({ path: "/docs", scheme, size: PHONE });
    await page.locator("details").first().locator("summary").click();
    await page.locator("#schemas details summary").first().click();
    await assertAccessible(page, "/docs");
    await picture(page, `docs-${scheme}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    assert.match(await page.locator("meta[name=viewport]").getAttribute("content"), /width=device-width/);
    assertClean(page);
  });
}

test("pages load only our files, without inline code", async () => {
  const page = await stage.page({ expected: [/Content Security Policy|violates the following|Trusted Type/] });
  await message(page, "Chào quý khách!");
  assert.equal(page.wrong.length, 0);
  const tried = await page.evaluate(async () => {
    const blocked = [];
    addEventListener("securitypolicyviolation", ({ effectiveDirective }) => blocked.push(effectiveDirective));
    const script = document.createElement("script");
    try {
      script.textContent = "document.title = 'broken'";
    } catch {
      blocked.push("text as script");
    }
    document.head.append(script);
    try {
      document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=\"document.title = 'broken'\">");
    } catch {
      blocked.push("text as markup");
    }
    await fetch("http://localhost:1/").catch(() => blocked.push("fetch"));
    return { blocked, title: document.title };
  });
  assert.equal(tried.title, "SSTC");
  for (const what of ["text as script", "text as markup", "fetch"]) assert.ok(tried.blocked.includes(what), `${tried.blocked}`);
});
