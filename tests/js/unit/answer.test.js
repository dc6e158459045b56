// The form for a person's answer, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeElement, give, load } from "./source.js";

// The scripts that need a document.
const fakes = {
  "console/desk.js": `export const { ask, memory, settings, words } = desk;`,
  "assets/render.js": `export const element = desk.element; export const submitOnEnter = () => {};`,
};

test("a reopened answer is resent with its key", async (t) => {
  const asked = [];
  give(t, "desk", {
    element: fakeElement,
    memory: new Map(),
    settings: { text_max_chars: 100 },
    words: { put() {}, clear() {}, say: () => "" },
    // The first request is never answered.
    ask: (method, path, body, headers) => (asked.push([body.text, headers["idempotency-key"]]), new Promise(() => {})),
  });
  const { Answer } = await load("console/answer.js", fakes);
  const submit = (answer) => answer.form.on.submit({ preventDefault() {} });
  const first = new Answer("c1");
  first.field.value = "Em nghe ạ.";
  first.field.on.input();
  submit(first);
  first.field.value = "Anh chờ nhé.";
  first.field.on.input();
  const second = new Answer("c1");
  assert.equal(second.field.value, "Em nghe ạ.\nAnh chờ nhé.");
  submit(second);
  assert.equal(second.field.value, "Anh chờ nhé.");
  assert.equal(asked.length, 2);
  assert.deepEqual(asked[0], asked[1]);
  assert.equal(asked[0][0], "Em nghe ạ.");
});
