// The console's views of documents, warranties, personas and reports.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { enter, read, talk } from "./desk.js";
import { QUESTION, Stage, assertClean, message } from "./stage.js";

let stage;
before(async () => (stage = await Stage.open()));
after(() => stage?.close());

const HEAD = "serial,product_name,warranty_end_date\n";
const rows = (numbers, product) => numbers.map((number) => `DROP-${1000 + number},${product},2027-01-0${1 + (number % 9)}\n`).join("");
const range = (from, to) => Array.from({ length: to - from }, (_, at) => from + at);

// Drops a file on the page.
async function drop(page, text) {
  const files = await page.evaluateHandle((text) => {
    const dropped = new DataTransfer();
    dropped.items.add(new File([text], "bao-hanh.csv", { type: "text/csv" }));
    return dropped;
  }, text);
  await page.dispatchEvent(".drop", "drop", { dataTransfer: files });
  await page.locator(".preview, .result .failure").waitFor();
}

// Waits until the server has reloaded the persona with this greeting.
async function greeted(text) {
  const patience = AbortSignal.timeout(300_000);
  while (!(await (await fetch(stage.server.url, { signal: patience })).text()).includes(text)) await pause(100);
  const customer = await stage.page();
  await message(customer, text);
  await customer.close();
}

test("a dropped list is written only after confirmation", async () => {
  const page = await enter(stage, { view: "warranty" });
  await drop(page, HEAD + rows(range(0, 3), "Chuột"));
  await page.locator(".preview .strong", { hasText: "Nhập 3 dòng" }).click();
  await page.locator(".success", { hasText: "3 dòng mới" }).waitFor();

  const list = HEAD + rows(range(0, 3), "Chuột không dây") + rows(range(3, 5), "Bàn phím") + "DROP-2000,Màn hình,31/02/2025\n" + rows(range(5, 15), "Bàn phím");
  await drop(page, list);
  assert.deepEqual(await page.locator(".tiles strong").allInnerTexts(), ["12", "3", "0", "1"]);
  assert.equal(await page.locator(".refusals li").first().innerText(), "DROP-1000 Chuột → Chuột không dây");
  const refused = await page.locator(".refusals li").last().innerText();
  assert.ok(refused.startsWith("Dòng 7:") && refused.includes("31/02/2025") && refused.includes("Không có ngày này"), refused);
  const { customer } = await talk(stage, "bảo hành DROP-1005");
  assert.equal(await customer.locator(".message", { hasText: "Bàn phím" }).count(), 0, "nothing is written yet");
  await page.locator(".preview .strong", { hasText: "Nhập 15 dòng hợp lệ" }).click();
  await page.locator(".success", { hasText: "12 dòng mới và 3 dòng thay đổi" }).waitFor();
  await drop(page, list);
  await page.getByText("Mọi dòng hợp lệ trong tệp này đều đã có.").waitFor();
  const after = await talk(stage, "bảo hành DROP-1005");
  await message(after.customer, "Sản phẩm 'Bàn phím', Serial 'DROP-1005'");
  const changed = await talk(stage, "bảo hành DROP-1000");
  await message(changed.customer, "Chuột không dây");
  assertClean(page);
});

test("an invalid file is reported and replaceable", async () => {
  const page = await enter(stage, { view: "warranty", expected: [/status of 422/] });
  await drop(page, "a;b\n1;2\n");
  await page.locator(".result .failure", { hasText: "Dòng đầu phải nêu tên các cột" }).waitFor();
  await drop(page, HEAD + rows(range(50, 51), "Loa"));
  await page.locator(".preview .strong", { hasText: "Nhập 1 dòng" }).waitFor();
  await page.getByRole("button", { name: "Hủy" }).click();
  assert.equal(await page.locator(".preview").count(), 0);
  assertClean(page);
});

test("a persona's text is checked, saved and restored", async () => {
  const page = await enter(stage, { view: "personas/system_persona_vi" });
  const field = page.locator(".source");
  await page.locator(".greetings .bubble", { hasText: "Chào quý khách! Em là nhân viên SSTC" }).waitFor();
  const text = await field.inputValue();
  const save = page.getByRole("button", { name: "Lưu", exact: true });

  await field.fill(text.replace(/^Greeting:.*$/m, ""));
  await page.locator(".check.invalid", { hasText: "Chưa có lời chào" }).waitFor();
  assert.equal(await save.getAttribute("aria-disabled"), "true");
  await save.click({ force: true });

  await field.fill(text.replace(/^Greeting:.*$/m, "Greeting: Xin chào, em là Mai ạ!"));
  await page.locator(".greetings .bubble", { hasText: "Xin chào, em là Mai ạ!" }).waitFor();
  // An unsaved text is restored on return.
  await page.locator('#rail a[href="#/figures"]').click();
  await page.locator(".column.figures").waitFor();
  await page.goBack();
  await page.locator(".greetings .bubble", { hasText: "Xin chào, em là Mai ạ!" }).waitFor();
  await page.locator(".check", { hasText: "chưa lưu" }).waitFor();
  await save.click();
  await page.locator(".versions .badge", { hasText: "Đang dùng" }).waitFor();
  await greeted("Xin chào, em là Mai ạ!");

  await page.getByRole("button", { name: "Xem phiên bản 1" }).click();
  await page.locator("dialog pre", { hasText: "Chào quý khách! Em là nhân viên SSTC" }).waitFor();
  await page.getByRole("button", { name: "Khôi phục" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
  await page.locator(".greetings .bubble", { hasText: "Chào quý khách! Em là nhân viên SSTC" }).waitFor();
  assert.equal(await field.inputValue(), text);
  await greeted("Chào quý khách! Em là nhân viên SSTC");
  assertClean(page);
});

test("concurrent edits of a persona are reported", async () => {
  const [first, second] = [await enter(stage, { view: "personas/system_persona_en" }), await enter(stage, { name: "Minh", view: "personas/system_persona_en", expected: [/status of 409/] })];
  for (const [page, word] of [[first, "Hello"], [second, "Hey"]]) {
    await page.locator(".greetings .bubble").first().waitFor();
    const text = await page.locator(".source").inputValue();
    await page.locator(".source").fill(text.replace("Greeting: Hi", `Greeting: ${word}`));
    await page.locator(".greetings .bubble", { hasText: `${word}, I'm SSTC` }).waitFor();
    await page.getByRole("button", { name: "Lưu", exact: true }).click();
    if (word === "Hello") await page.locator(".versions").waitFor();
  }
  await second.locator("dialog pre", { hasText: "Greeting: Hello" }).waitFor();
  await second.getByRole("button", { name: "Ghi đè bằng nội dung của tôi" }).click();
  await second.locator("dialog").waitFor({ state: "detached" });
  await second.locator(".check", { hasText: "Đã lưu và đang dùng." }).waitFor();
  const saved = await stage.server.api("GET", "/console/api/personas/system_persona_en");
  assert.match(saved.text, /Greeting: Hey/);
  for (const page of [first, second]) assertClean(page);
});

test("a shop without customers has no questions yet", async () => {
  const empty = await Stage.open();
  try {
    const page = await enter(empty, { view: "knowledge" });
    await page.getByText("Chưa có câu hỏi nào").waitFor();
    assertClean(page);
  } finally {
    await empty.close();
  }
});

test("unanswered questions link to their conversations", async () => {
  const { id } = await talk(stage, "shop có bán máy giặt không?");
  await talk(stage, "SHOP CO BAN MAY GIAT KHONG");
  const page = await enter(stage, { view: "knowledge" });
  await page.locator("table", { hasText: "Laptop" }).first().waitFor();
  const group = page.locator(".questions > li", { hasText: /m[áa]y gi[ặa]t/i });
  await group.locator(".row-more", { hasText: "2 lần" }).waitFor();
  await group.locator("summary").click();
  await group.locator(`a[href="#/inbox/${id}/1"]`).click();
  await page.locator(".thread .message.user", { hasText: "máy giặt" }).waitFor();
  assertClean(page);
});

test("a reported reply becomes a case", async () => {
  stage.model.nextSays("Dạ shop không có laptop ạ. ");
  const { id } = await talk(stage, QUESTION);
  const page = await enter(stage);
  await read(page, id);
  await page.locator(".message.reply .objection button").click();
  await page.getByLabel("Ghi chú").fill("Có bán laptop mà");
  await page.getByLabel("Câu trả lời cần có").fill("Dell");
  await page.getByRole("button", { name: "Lưu" }).click();
  const file = await page.locator("dialog code").innerText();
  await page.getByRole("button", { name: "Xong" }).click();
  // A dialog's `close` event, which removes it, is queued.
  await page.locator("dialog").waitFor({ state: "detached" });
  const kept = readFileSync(join(stage.server.folder, "evals/conversations", file.split("/").at(-1)), "utf8");
  for (const what of ["Có bán laptop mà", "Dell", QUESTION, "shop không có laptop"]) assert.ok(kept.includes(what), what);
  assertClean(page);
});

test("reports show questions by intent and as tables", async () => {
  await talk(stage, "bảo hành DROP-9999");
  const page = await enter(stage, { view: "figures" });
  const plot = page.locator(".plot").first();
  await plot.locator("rect.series").first().waitFor();
  assert.ok(await page.locator(".plot").count() >= 4);
  await plot.locator("summary").click();
  const today = await plot.locator("tbody tr").first().innerText();
  assert.match(today, /[1-9]/);
  await page.locator(".parts .ok", { hasText: "Cơ sở dữ liệu" }).waitFor();
  await page.locator("select").selectOption("7");
  await page.waitForFunction(() => document.querySelectorAll(".plot")[0].querySelectorAll("tbody tr").length === 7);
  const colours = await page.evaluate(() => {
    const colour = (n) => getComputedStyle(document.documentElement).getPropertyValue(`--series-${n}`).trim();
    return [0, 1, 2, 3, 4, 5, 6, 7].map(colour);
  });
  assert.equal(new Set(colours.filter((colour) => colour)).size, 8, colours.join(" "));
  assertClean(page);
});
