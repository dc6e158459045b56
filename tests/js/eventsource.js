// A real EventSource reads a conversation while the server is killed and started again: it sees each event once, in
// order, and reconnects by itself.
//
//     node eventsource.js PATH-OF-THE-SERVER
//
// EVENTSOURCE names the module to use if it is not installed next to this file.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

import { Model } from "./browser/model.js";
import { Server } from "./browser/server.js";

const KILLS = 3;

if (!process.argv[2]) {
  console.error("usage: node eventsource.js PATH-OF-THE-SERVER");
  process.exit(2);
}
process.env.FRONTDESK = process.argv[2];
const { EventSource } = await import(process.env.EVENTSOURCE ? pathToFileURL(process.env.EVENTSOURCE) : "eventsource");

let server;
process.on("exit", () => {
  server?.kill();
  if (server) rmSync(server.folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));
setTimeout(() => fail("it took longer than 15 min"), 900_000).unref();

function fail(why) {
  console.error(`FAILED: ${why}`);
  process.exit(1);
}

const seen = [];
let opened = 0;
const until = async (what, condition) => {
  for (let waited = 0; !condition(); waited += 10) {
    if (waited > 300_000) fail(`${what}: not in 300 s; last event ${seen.at(-1)?.id}`);
    await sleep(10);
  }
};

// Asks, and has the model reply slowly. A reply that a kill is to interrupt never ends by itself.
async function ask({ ends }) {
  write(model.next(), ends);
  await server.api("POST", `/conversations/${id}/messages`, { text: "tư vấn mua laptop cho sinh viên" });
}

async function write(reply, ends) {
  await reply.asked;
  for (let word = 1; word <= 80; word++) {
    reply.say("tiếng này rồi ");
    await sleep(20);
  }
  if (ends) reply.end();
}

const model = await Model.start();
server = await Server.start(model);
const { id, token } = await server.api("POST", "/conversations", {});
// Like a browser, which cannot send headers, so the token is in the address.
const source = new EventSource(`${server.url}/conversations/${id}/events?token=${token}&last_event_id=0.0`);
source.onopen = () => (opened += 1);
source.onmessage = ({ data, lastEventId }) => {
  const event = JSON.parse(data);
  if (!event.debug) seen.push({ id: lastEventId, event });
};
await until("the stream opens", () => opened === 1);

for (let turn = 1; turn <= KILLS; turn++) {
  await ask({ ends: false });
  const deltas = () => seen.filter(({ event, id }) => event.type === "delta" && id.startsWith(`${turn}.`)).length;
  await until("the reply begins", () => deltas() > 5 * turn);
  await server.kill();
  await server.start();
  await until("the cut turn ends", () => seen.at(-1).event.type === "turn.done" && seen.at(-1).event.turn === turn);
}
await ask({ ends: true });
await until("the last turn ends", () => seen.at(-1).event.type === "turn.done" && seen.at(-1).event.turn === KILLS + 1);
source.close();

// Each turn's events are numbered 1..n, one turn after the other.
let [turn, n] = [1, 1];
for (const { id, event } of seen) {
  assert.equal(id, `${turn}.${n}`);
  [turn, n] = event.type === "turn.done" ? [turn + 1, 1] : [turn, n + 1];
}
const ends = seen.filter(({ event }) => event.type === "turn.done").map(({ event }) => event.status);
assert.deepEqual(ends, [...Array(KILLS).fill("interrupted"), "completed"]);
assert.equal(opened, KILLS + 1, "one connection more for each kill");

// The history contains the text that was read.
const { messages } = await server.api("GET", `/conversations/${id}/history?limit=200`);
const texts = new Map();
for (const { event } of seen) {
  if (event.type === "delta") texts.set(event.message_id, (texts.get(event.message_id) ?? "") + event.text);
}
const stored = messages.filter(({ sender, turn }) => sender === "assistant" && turn > 0);
assert.deepEqual(new Map(stored.map(({ id, text }) => [id, text])), texts);
assert.equal(messages.filter(({ sender }) => sender === "user").length, KILLS + 1);

console.log(`${seen.length} events, each once and in order, over ${KILLS} kills and ${opened} connections`);
process.exit(0);
