// Sending messages, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeElement, give, load } from "./source.js";

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
const webcrypto = globalThis.crypto;
// Over plain http, browsers have no `randomUUID`.
const insecure = { getRandomValues: (values) => webcrypto.getRandomValues(values) };

for (const [origin, available] of [["https", webcrypto], ["plain http", insecure]]) {
  test(`keys are random UUIDs over ${origin}`, async (t) => {
    give(t, "crypto", available);
    const { newKey } = await load("assets/request.js");
    const keys = Array.from({ length: 50 }, newKey);
    for (const key of keys) assert.match(key, UUID);
    assert.equal(new Set(keys).size, keys.length);
  });
}

test("messages are sent over plain http", async (t) => {
  give(t, "crypto", insecure);
  give(t, "addEventListener", () => {});
  const { Outbox } = await load("assets/outbox.js");
  const sent = await new Promise((done) => {
    const outbox = new Outbox(new Map(), { deliver: async (...message) => done(message), onState() {} });
    outbox.add("xin chào");
  });
  assert.equal(sent[0], "xin chào");
  assert.match(sent[1], UUID);
});

test("conversations are opened over plain http", async (t) => {
  give(t, "crypto", insecure);
  give(t, "addEventListener", () => {});
  const asked = [];
  give(t, "fetch", async (...request) => {
    asked.push(request);
    return new Response(JSON.stringify({ id: "c1", token_expires_at: "2100-01-01T00:00:00Z" }));
  });
  const { Session } = await load("assets/session.js");
  const session = new Session(new Map(), { reads: () => "vi", onRenewed() {} });
  await session.open();
  session.forget();
  assert.match(asked[0][1].headers["idempotency-key"], UUID);
});

test("a text stays in the field until accepted", async (t) => {
  const elements = { composer: fakeElement(), text: fakeElement(), send: fakeElement(), hint: fakeElement() };
  give(t, "document", { getElementById: (id) => elements[id] });
  give(t, "addEventListener", () => {});
  const { compose } = await load("assets/composer.js");
  let accept = () => {
    throw new Error("not accepted");
  };
  compose(new Map([["draft", "xin chào"]]), { clear() {} }, 100, (text) => accept(text));
  const submit = () => elements.composer.on.submit({ preventDefault() {} });
  assert.throws(submit, /not accepted/);
  assert.equal(elements.text.value, "xin chào");
  const accepted = [];
  accept = (text) => accepted.push(text);
  submit();
  assert.deepEqual([accepted, elements.text.value], [["xin chào"], ""]);
});
