// A person of the shop answers in the chat. The test plays the events into the page's stream and adds the person's messages to
// the server's history, so it covers only the page.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Stage, assertClean, message, play, quiet, say, tapped, written } from "./stage.js";

const PERSON = "Từ đây nhân viên cửa hàng trả lời quý khách.";
const ASSISTANT = "Từ đây trợ lý AI SSTC trả lời quý khách.";

let stage;
before(async () => (stage = await Stage.open()));
after(() => stage?.close());

// Opens a page with one answered turn.
async function talk() {
  const page = await stage.page({ context: await tapped(await stage.context()) });
  await stage.answered(page, "Dạ em đây ạ.");
  return page;
}

const asked = (turn, text) => ({ type: "turn.start", turn, message_id: `q${turn}`, sender: "user", text });

// Returns everything after the first turn, in order: lines between messages, names, messages.
const below = (page) =>
  page.evaluate(() => [...document.querySelectorAll(".turn:not([data-turn='0'], [data-turn='1']) :is(.notice, .by:not(.unseen), .bubble)")].map((element) => element.innerText));

test("a person's answer appears once with the name", async () => {
  const page = await talk();
  await play(page, 2, written(2, "a2", "Chào quý khách, em là Lan.", "Lan"));
  await play(page, 3, written(3, "a3", "Quý khách cần gì ạ?", "Lan"));
  await play(page, 4, [
    asked(4, "máy nào nhẹ?"),
    { type: "intent", intent: "shopping", confidence: 0.9, source: "rules", language: "vi", clarify_needed: false },
    { type: "message.start", message_id: "r4", kind: "reply" },
    { type: "delta", message_id: "r4", text: "Dạ có nhiều máy nhẹ ạ." },
    { type: "message.end", message_id: "r4", kind: "reply", metadata: { type: "reply" } },
    { type: "turn.done", turn: 4, status: "completed", timings_ms: {} },
  ]);
  const shown = [
    PERSON,
    "Lan · nhân viên cửa hàng",
    "Chào quý khách, em là Lan.",
    "Lan · nhân viên cửa hàng",
    "Quý khách cần gì ạ?",
    "máy nào nhẹ?",
    ASSISTANT,
    "Dạ có nhiều máy nhẹ ạ.",
  ];
  assert.deepEqual(await below(page), shown);
  const heard = (await page.locator("#announcements p").allInnerTexts()).slice(-5);
  assert.deepEqual(heard, [
    PERSON,
    "Lan · nhân viên cửa hàng: Chào quý khách, em là Lan.",
    "Lan · nhân viên cửa hàng: Quý khách cần gì ạ?",
    ASSISTANT,
    "SSTC: Dạ có nhiều máy nhẹ ạ.",
  ]);

  const more = [
    { id: "a2", turn: 2, sender: "agent", text: shown[2], metadata: { type: "agent", name: "Lan" } },
    { id: "a3", turn: 3, sender: "agent", text: shown[4], metadata: { type: "agent", name: "Lan" } },
    { id: "q4", turn: 4, sender: "user", text: shown[5], metadata: {} },
    { id: "r4", turn: 4, sender: "assistant", text: shown[7], metadata: { type: "reply" } },
  ];
  await page.route("**/history?*", async (route) => {
    const history = await (await route.fetch()).json();
    await route.fulfill({ json: { ...history, messages: [...history.messages, ...more] } });
  });
  await page.reload();
  await message(page, shown[7]);
  assert.deepEqual(await below(page), shown);
  // An event for a message of the history changes nothing.
  await play(page, 2, written(2, "a2", "Chào quý khách, em là Lan.", "Lan"));
  assert.deepEqual(await below(page), shown);
  assertClean(page);
});

test("a taken conversation shows no typing or error", async () => {
  const page = await talk();
  await page.route("**/messages", (route) => route.fulfill({ status: 202, json: { message_id: "q2", turn: 2, status: "queued" } }));
  await say(page, "cho gặp nhân viên");
  await page.waitForFunction(() => !document.querySelector(".user .note"));
  await play(page, 2, [asked(2, "cho gặp nhân viên")]);
  assert.equal(await page.locator(".typing").count(), 1);
  await play(page, 2, [{ type: "turn.done", turn: 2, status: "completed", timings_ms: {} }]);
  await quiet(page);
  assert.deepEqual(await below(page), ["cho gặp nhân viên"]);
  assert.equal(await page.locator(".trouble, .again, .turn:last-child .note").count(), 0);
  // A person's answer cannot be stopped.
  await play(page, 3, written(3, "a3", "Em nghe ạ.", "Lan").slice(0, 3));
  await message(page, "Em nghe ạ.");
  assert.equal(await page.locator("#running").isVisible(), false);
  assert.equal(await page.locator(".typing").count(), 0);
  assertClean(page);
});

test("a reply stopped by staff offers no retry", async () => {
  const page = await talk();
  await play(page, 2, [
    asked(2, "máy nào nhẹ?"),
    { type: "message.start", message_id: "r2", kind: "reply" },
    { type: "delta", message_id: "r2", text: "Dạ em thấy " },
    { type: "message.end", message_id: "r2", kind: "reply", metadata: { type: "reply", cut: true, cut_reason: "cancelled" } },
    { type: "turn.done", turn: 2, status: "cancelled", timings_ms: {} },
  ]);
  await play(page, 3, written(3, "a3", "Em là Lan ạ.", "Lan"));
  await page.locator("#transcript").getByText("Đã dừng trả lời").waitFor();
  // The customer can ask the person.
  assert.equal(await page.getByRole("button", { name: "Hỏi lại" }).isVisible(), false);
  assertClean(page);
});

test("a person's name is escaped and optional", async () => {
  const page = await talk();
  await play(page, 2, written(2, "a2", "Chào ạ.", `<img src=x onerror="document.title='broken'"> {name}`));
  await play(page, 3, written(3, "a3", "Em đây ạ."));
  assert.deepEqual(await below(page), [
    PERSON,
    `<img src=x onerror="document.title='broken'"> {name} · nhân viên cửa hàng`,
    "Chào ạ.",
    "Nhân viên cửa hàng",
    "Em đây ạ.",
  ]);
  await play(page, 4, [asked(4, "hello"), { type: "intent", intent: "unknown", language: "en" }]);
  assert.match((await below(page))[1], / \{name\} · shop staff$/);
  assert.equal(await page.title(), "SSTC");
  assertClean(page);
});
