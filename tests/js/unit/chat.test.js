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

// Lets all promises settle.
const settled = () => new Promise((done) => setImmediate(done));

// Imports the session with these answers to requests. Returns it with the addresses that it asked for.
async function openSession(t, answer) {
  give(t, "addEventListener", () => {});
  const asked = [];
  give(t, "fetch", async (address, options) => {
    asked.push(address);
    return answer(options, asked.length);
  });
  const { Session } = await load("assets/session.js");
  const memory = new Map();
  const session = new Session(memory, { reads: () => "vi", onRenewed() {} });
  t.after(() => session.forget());
  return { session, memory, asked };
}

test("a clock ahead renews the token seldom", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: Date.parse("2026-01-03T01:00:00Z") });
  const answer = (_, count) =>
    // Without a pause, the renewals would never end.
    count > 20 ? new Promise(() => {}) : new Response(JSON.stringify({ id: "c1", token: "t", token_expires_at: "2026-01-03T00:00:00Z" }));
  const { session, asked } = await openSession(t, answer);
  await session.open();
  await settled();
  t.mock.timers.tick(1000);
  await settled();
  assert.deepEqual(asked, ["/conversations"]);
  t.mock.timers.tick(60_000);
  await settled();
  assert.deepEqual(asked, ["/conversations", "/conversations/c1/token"]);
});

test("a conversation forgotten while opening stays forgotten", async (t) => {
  let respond;
  const { session, memory } = await openSession(t, () => new Promise((done) => (respond = done)));
  const opening = session.open();
  session.forget();
  respond(new Response(JSON.stringify({ id: "c1", token_expires_at: "2100-01-01T00:00:00Z" })));
  await opening;
  assert.equal(session.id, undefined);
  assert.equal(memory.get("opening"), undefined);
});

test("a request without an answer ends", async (t) => {
  const hanging = new AbortController();
  give(t, "AbortSignal", { timeout: (wait) => (assert.equal(wait, 30_000), hanging.signal) });
  const answer = ({ signal }) => new Promise((_, fail) => signal?.addEventListener("abort", () => fail(signal.reason)));
  const { session } = await openSession(t, answer);
  const sent = session.send("xin chào", "k1");
  hanging.abort();
  await assert.rejects(sent, (error) => error.constructor.name === "Unreachable");
});

// Imports the outbox, whose messages `deliver` answers. Returns it with the scripts' refusal, the storage and the entries.
async function openOutbox(t, deliver) {
  give(t, "addEventListener", () => {});
  const both = { "assets/both.js": `export * from "./outbox.js"; export * from "./request.js";` };
  const { Outbox, Refusal } = await load("assets/both.js", both);
  const [memory, entries] = [new Map(), new Set()];
  const refuse = (status, code) => {
    throw new Refusal(status, { code }, 5);
  };
  const outbox = new Outbox(memory, { deliver: async (text) => deliver(text, refuse), onState: (entry) => entries.add(entry) });
  return { outbox, memory, entries };
}

test("an unavailable store keeps the order of messages", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const tried = [];
  const { outbox } = await openOutbox(t, (text, refuse) => (tried.push(text) === 1 ? refuse(503, "unavailable") : {}));
  outbox.add("một");
  outbox.add("hai");
  await settled();
  t.mock.timers.tick(1000);
  await settled();
  assert.deepEqual(tried, ["một", "một", "hai"]);
});

test("a stored message leaves the outbox", async (t) => {
  const tried = [];
  const { outbox, memory, entries } = await openOutbox(t, (text, refuse) => (tried.push(text) === 1 ? refuse(500, "internal") : {}));
  outbox.add("một");
  await settled();
  const [entry] = entries;
  assert.equal(entry.state, "refused");
  outbox.drop(entry);
  assert.equal(memory.get("outbox"), undefined);
  assert.equal(outbox.holds(entry.key), false);
  outbox.again(entry);
  outbox.add("hai");
  await settled();
  assert.deepEqual(tried, ["một", "hai"]);
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
