// Every view of the console, in both languages and themes: axe finds no violation, and SCREENSHOTS gets a picture of each
// at the size of a phone and of a desktop. Also the size of a first visit.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { KEY, enter, goTo, read, talk } from "./desk.js";
import { DESK, PHONE, QUESTION, VARIANTS, Stage, assertAccessible, assertClean, assertSmall, message, picture } from "./stage.js";

const REPLY = `Dạ với nhu cầu học tập, em gợi ý **Dell Inspiron** ạ: máy hợp với soạn thảo và học trực tuyến, giá chỉ 1.234.567đ. Quý khách xem thêm nhé. `;

let stage, ids;
before(async () => {
  stage = await Stage.open();
  stage.model.nextSays(REPLY);
  const first = await talk(stage, QUESTION, "bảo hành LAP-0001");
  const waiting = await talk(stage, "cho mình gặp nhân viên");
  const taken = await talk(stage, "xin chào");
  await talk(stage, "shop có bán máy giặt không?", "ờ");
  await stage.server.api("POST", `/console/api/conversations/${taken.id}/take`);
  await stage.server.api("POST", `/console/api/conversations/${taken.id}/answers`, { text: "Dạ em nghe ạ." });
  await message(taken.customer, "Dạ em nghe ạ.");
  await stage.server.run("seed", "returns");
  const returns = await stage.server.conversation({ persona: "returns_en" }, "return order 77893", "john.doe@example.com", "yes", "Actually, the boots are shattered.");
  // An escalated return has no next step.
  const status = await stage.server.conversation({ persona: "returns_en" }, "where is order 77912?", "buyer-77898@example.com");
  ids = { first: first.id, waiting: waiting.id, taken: taken.id, returns, status };
});
after(() => stage?.close());

for (const [language, scheme] of VARIANTS) {
  test(`every view is accessible: ${language}, ${scheme}`, async () => {
    const page = await stage.page({ path: "/console", scheme, size: PHONE });
    const seen = async (state) => {
      for (const [size, name] of [[DESK, "desk"], [PHONE, "phone"]]) {
        await page.setViewportSize(size);
        await page.waitForFunction(() => !document.querySelector(".loading, [aria-busy]"));
        await assertAccessible(page, `${state}, ${language}, ${scheme}, ${name}`);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${state} fits on a ${name}`);
        await picture(page, `console-${state}-${language}-${scheme}-${name}`);
      }
    };
    await page.locator("input[name=key]").waitFor();
    if (language === "en") {
      await page.evaluate(() => localStorage.setItem("frontdesk:console:language", '"en"'));
      await page.reload();
    }
    await page.locator("input[name=key]").waitFor();
    await seen("01-sign-in");
    await page.locator("input[name=key]").fill(KEY);
    await page.locator("input[name=name]").fill("Lan");
    await page.keyboard.press("Enter");
    await page.locator(".row").first().waitFor();
    await seen("02-inbox");
    await read(page, ids.first);
    await page.locator(".receipt").first().waitFor();
    await seen("03-conversation");
    await page.locator(".message.reply .receipt summary").click();
    await page.locator(".message.reply .receipt").scrollIntoViewIfNeeded();
    await seen("04-receipt");
    await page.locator(".message.reply .objection button").click();
    await page.locator("dialog[open]").waitFor();
    await seen("05-wrong");
    await page.keyboard.press("Escape");
    for (const [name, id] of [["06-waiting", ids.waiting], ["07-taken", ids.taken]]) {
      await goTo(page, `inbox/${id}`);
      await page.locator(".thread .message").first().waitFor();
      await page.locator(".actions .button").first().waitFor();
      await seen(name);
    }
    await goTo(page, `inbox/${ids.returns}`);
    await page.locator(".returns > summary").waitFor();
    await seen("07-returns-folded");
    await page.locator(".returns > summary").click();
    await page.locator(".escalation .actions button").first().click();
    await page.locator(".escalation .failure").waitFor();
    await seen("07-returns");
    await page.locator(".record > summary").click();
    await page.locator(".record li").last().scrollIntoViewIfNeeded();
    await seen("07-returns-record");
    await goTo(page, `inbox/${ids.status}`);
    await page.locator(".returns > summary").click();
    await page.locator("[data-step]").first().click();
    await page.locator("dialog[open]").waitFor();
    await seen("07-returns-step");
    await page.keyboard.press("Escape");
    await goTo(page, "inbox");
    await page.locator("input[type=search]").fill("zzz");
    await page.locator(".list .empty").waitFor();
    await seen("08-nothing-found");
    await goTo(page, "knowledge");
    await page.locator(".questions summary").first().click();
    await page.locator("table").first().waitFor();
    await seen("09-knowledge");
    await goTo(page, "warranty");
    await page.locator(".drop").waitFor();
    await page.locator("details summary").click();
    await seen("10-warranty");
    const list = "serial,product_name,warranty_end_date\nSEEN-1,Loa,2027-01-05\nSEEN-2,Chuột,31/02/2025\n";
    await page.locator("#warranty-file").setInputFiles({ name: "list.csv", mimeType: "text/csv", buffer: Buffer.from(list) });
    await page.locator(".preview").waitFor();
    await seen("11-preview");
    await goTo(page, "audit");
    await page.locator("table").first().waitFor();
    await seen("11-audit");
    await goTo(page, "personas");
    await page.locator(".row").first().waitFor();
    await seen("12-personas");
    await goTo(page, "personas/system_persona_vi");
    await page.locator(".greetings .bubble").first().waitFor();
    await seen("13-persona");
    await page.locator(".source").fill("---\nname: SSTC\n");
    await page.locator(".check.invalid").waitFor();
    await seen("14-invalid");
    await goTo(page, "figures");
    await page.locator(".plot").first().waitFor();
    await seen("15-figures");
    await page.locator(".plot").nth(2).scrollIntoViewIfNeeded();
    await seen("16-figures-more");
    assertClean(page);
  });
}

test("a first visit loads at most 100 KiB", () => assertSmall(stage, "/console", 100 * 1024, (page) => page.locator("input[name=key]").waitFor()));

test("the console loads only our files, never framed", async () => {
  const response = await fetch(`${stage.server.url}/console`);
  const policy = response.headers.get("content-security-policy");
  assert.match(policy, /frame-ancestors 'none'/);
  assert.match(policy, /require-trusted-types-for 'script'/);
  const page = await enter(stage, { expected: [/Content Security Policy|violates the following|Trusted Type/] });
  const blocked = await page.evaluate(() => {
    try {
      document.body.insertAdjacentHTML("beforeend", "<img src=x>");
      return false;
    } catch {
      return true;
    }
  });
  assert.ok(blocked);
});
