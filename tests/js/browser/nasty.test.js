// Texts that would do harm as markup.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PHONE, QUESTION, Stage, assertClean, message, play, quiet, say, tapped, written } from "./stage.js";

const NASTY = {
  "an image that runs script": `<img src=x onerror="document.title='broken'">`,
  "a script": `<script>document.title='broken'</script>`,
  "a script's address": `[bấm vào đây](javascript:document.title='broken')`,
  "a link to a stranger": `[bấm vào đây](https://evil.example/?a=1) https://evil.example/b`,
  "an image by reference": `![ảnh][1]\n[1]: https://evil.example/?secret=1`,
  "an image": `![ảnh](https://evil.example/a.png)`,
  "a frame and a style": `<iframe src="https://evil.example"></iframe><style>*{display:none}</style>`,
  "the end of the page's own data": `</script><script>document.title='broken'</script>`,
  "a template": "{{constructor.constructor('document.title=`broken`')()}} ${document.title='broken'}",
  "an entity": `&lt;b&gt; &#x202e; &amp;`,
  "4,000 letters without a space": "ạ".repeat(4000),
  "right to left": "مرحبا بالعالم \u202Eevil\u202C שלום",
  "marks piled on a letter": `Z${"\u0300\u0301\u0302\u0303\u0489".repeat(40)}algo`,
  emoji: "👩‍👩‍👧‍👦 🇻🇳 ☺️ 1️⃣ \u{1F9D1}\u{1F3FD}‍💻",
  "what JSON and scripts trip over": "a \u2028\u2029\\u0000 ' \" ` \\",
};

let stage;
before(async () => (stage = await Stage.open()));
after(() => stage?.close());

// Returns the exact text of the last bubble of this kind.
const shown = (page, kind) => page.locator(`.message.${kind} .bubble`).last().evaluate((element) => element.textContent);
// Page and server remove marks that change the direction of text.
const withoutTurns = (text) => text.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, "");
const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && scroller.scrollWidth <= scroller.clientWidth);

test("a customer's text is shown exactly as written", async () => {
  const page = await stage.page({ size: PHONE });
  const answers = () => page.locator(".message:not(.user)").count();
  for (const [name, text] of Object.entries(NASTY)) {
    const before = await answers();
    await say(page, text);
    const kept = withoutTurns(text);
    await page.waitForFunction((text) => [...document.querySelectorAll(".user .bubble")].at(-1)?.textContent === text, kept);
    // The page shows no typing while the customer waits for a person, which several unclear messages lead to.
    await page.waitForFunction((before) => document.querySelectorAll(".message:not(.user)").length > before, before);
    await quiet(page);
    assert.equal(await shown(page, "user"), kept, name);
    assert.ok(await fits(page), `${name} fits`);
  }
  assert.equal(await page.locator(".message a, .message img, .message iframe, .message style, .message script").count(), 0);
  assert.equal(await page.title(), "SSTC");
  await page.reload();
  await page.waitForFunction((count) => document.querySelectorAll(".user").length === count, Object.keys(NASTY).length);
  assert.deepEqual(await page.locator(".user .bubble").evaluateAll((all) => all.map(({ textContent }) => textContent)), Object.values(NASTY).map(withoutTurns));
  assertClean(page);
});

test("model output runs no code and fits", async () => {
  const page = await stage.page({ size: PHONE });
  for (const [name, text] of Object.entries(NASTY)) {
    stage.model.nextSays(`[${text}]`);
    await say(page, QUESTION);
    await page.waitForFunction((count) => document.querySelectorAll(".message.reply:not(.growing)").length === count, 1 + Object.keys(NASTY).indexOf(name));
    await quiet(page);
    // The server removes foreign links and images, so the words differ.
    assert.ok(await fits(page), `${name} fits`);
  }
  assert.equal(await page.locator(".message a, .message img, .message iframe, .message style, .message script").count(), 0);
  assert.equal(await page.title(), "SSTC");
  assertClean(page);
});

test("a person's text runs no code and fits", async () => {
  const page = await stage.page({ context: await tapped(await stage.context({ size: PHONE })) });
  await say(page, "xin chào");
  await quiet(page);
  for (const [at, [name, text]] of Object.entries(NASTY).entries()) {
    await play(page, at + 2, written(at + 2, `a${at}`, text, "Lan"));
    assert.ok((await shown(page, "agent")).length > 0, name);
    assert.ok(await fits(page), `${name} fits`);
  }
  assert.equal(await page.locator(".message.agent").count(), Object.keys(NASTY).length);
  assert.equal(await page.locator(".message img, .message iframe, .message style, .message script").count(), 0);
  // Staff may write web addresses; anything else stays text.
  const links = await page.locator(".message a").evaluateAll((all) => all.map(({ protocol, target, rel }) => `${protocol} ${target} ${rel}`));
  assert.deepEqual([...new Set(links)], ["https: _blank noopener noreferrer"]);
  assert.equal(await page.title(), "SSTC");
  assertClean(page);
});

test("links to our pages open in new tabs", async () => {
  const page = await stage.page();
  stage.model.nextSays(`Xem [trang này](${stage.server.url}/?language=en) ạ.`);
  await say(page, QUESTION);
  await message(page, "Xem trang này ạ.");
  const link = page.getByRole("link", { name: "trang này" });
  assert.deepEqual(
    await link.evaluate(({ href, target, rel }) => [href, target, rel]),
    [`${stage.server.url}/?language=en`, "_blank", "noopener noreferrer"],
  );
  await quiet(page);
  assertClean(page);
});
