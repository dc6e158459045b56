// The size of a first visit, and the page's security policy.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PHONE, Stage, assertAccessible, assertClean, assertSmall, message, picture } from "./stage.js";

let stage;
before(async () => (stage = await Stage.open()));
after(() => stage?.close());

test("a first visit loads at most 60 KiB", () => assertSmall(stage, "/", 60 * 1024, (page) => message(page, "Chào quý khách!")));

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
