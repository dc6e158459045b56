// A real EventSource reads a conversation while the server is killed and started again: it sees each event once, in
// order, and reconnects by itself.
//
//     node eventsource.js PATH-OF-THE-SERVER
//
// EVENTSOURCE names the module to use if it is not installed next to this file. This file also serves a scripted language
// model.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const ROOT = resolve(import.meta.dirname, "../..");
const KEY = "eventsource-test-key";
const KILLS = 3;

const binary = process.argv[2];
if (!binary) {
  console.error("usage: node eventsource.js PATH-OF-THE-SERVER");
  process.exit(2);
}
const { EventSource } = await import(process.env.EVENTSOURCE ? pathToFileURL(process.env.EVENTSOURCE) : "eventsource");

const folder = mkdtempSync(join(tmpdir(), "eventsource-test-"));
let server;
let source;
process.on("exit", () => {
  server?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));
setTimeout(() => fail("it took longer than 90 s"), 90_000).unref();

function fail(why) {
  console.error(`FAILED: ${why}`);
  process.exit(1);
}

// A language model that writes slowly, so that each kill interrupts a reply.
const model = createServer((request, response) => {
  if (request.url === "/api/tags") {
    const model = { name: "gpt-oss:latest", modified_at: "2025-01-01T00:00:00Z", size: 1 };
    return response.end(JSON.stringify({ models: [model] }));
  }
  let body = "";
  request.on("data", (data) => (body += data));
  request.on("end", async () => {
    const line = (content, done) => JSON.stringify({ message: { role: "assistant", content }, done }) + "\n";
    if (JSON.parse(body || "{}").stream === false) return response.end(line("{}", true));
    for (let word = 1; word <= 80 && !response.destroyed; word++) {
      response.write(line("tiếng này rồi ", false));
      await sleep(20);
    }
    response.end(line("", true));
  });
});

const listening = (address) => new Promise((done) => address.once("listening", done));
model.listen(0, "127.0.0.1");
await listening(model);

// The port stays the same, because an EventSource has a fixed address.
const probe = createServer().listen(0, "127.0.0.1");
await listening(probe);
const { port } = probe.address();
await new Promise((done) => probe.close(done));
const base = `http://127.0.0.1:${port}`;

cpSync(join(ROOT, "prompts"), join(folder, "prompts"), { recursive: true });
cpSync(join(ROOT, "knowledge"), join(folder, "knowledge"), { recursive: true });
mkdirSync(join(folder, "database"));
const settings = {
  BIND_ADDR: `127.0.0.1:${port}`,
  DATABASE_URL: "sqlite://database/frontdesk.db",
  X_API_KEYS: KEY,
  LLM: "ollama",
  EMBED: "off",
  OLLAMA_HOST: `http://127.0.0.1:${model.address().port}`,
  LOG: "warn",
};
// Without the settings of the developer's environment.
const known = [...readFileSync(join(ROOT, ".env.example"), "utf8").matchAll(/^#([A-Z_]+)=/gm)].map((match) => match[1]);
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !known.includes(name)));

async function start() {
  server = spawn(resolve(binary), ["serve"], { cwd: folder, env: { ...environment, ...settings }, stdio: ["ignore", "pipe", "inherit"] });
  server.once("error", (error) => fail(`the server cannot be started: ${error.message}`));
  await new Promise((ready) => {
    server.once("exit", (code) => fail(`the server ended by itself with ${code}`));
    createInterface(server.stdout).on("line", (line) => line.startsWith("listening on ") && ready());
  });
}

async function kill() {
  server.removeAllListeners("exit");
  const gone = new Promise((done) => server.once("exit", done));
  server.kill("SIGKILL");
  await gone;
}

async function post(path, body) {
  const headers = { "content-type": "application/json", "x-api-key": KEY };
  const response = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) });
  assert.ok(response.ok, `POST ${path}: ${response.status}`);
  return response.json();
}

const seen = [];
let opened = 0;
const until = async (what, condition) => {
  for (let waited = 0; !condition(); waited += 10) {
    if (waited > 30_000) fail(`${what}: not in 30 s; last event ${seen.at(-1)?.id}`);
    await sleep(10);
  }
};

await start();
const { id, token } = await post("/conversations", {});
// Like a browser, which cannot send headers, so the token is in the address.
source = new EventSource(`${base}/conversations/${id}/events?token=${token}&last_event_id=0.0`);
source.onopen = () => (opened += 1);
source.onmessage = ({ data, lastEventId }) => {
  const event = JSON.parse(data);
  if (!event.debug) seen.push({ id: lastEventId, event });
};
await until("the stream opens", () => opened === 1);

for (let turn = 1; turn <= KILLS; turn++) {
  await post(`/conversations/${id}/messages`, { text: "tư vấn mua laptop cho sinh viên" });
  const deltas = () => seen.filter(({ event, id }) => event.type === "delta" && id.startsWith(`${turn}.`)).length;
  await until("the reply begins", () => deltas() > 5 * turn);
  await kill();
  await start();
  await until("the cut turn ends", () => seen.at(-1).event.type === "turn.done" && seen.at(-1).event.turn === turn);
}
await post(`/conversations/${id}/messages`, { text: "tư vấn mua laptop cho sinh viên" });
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
const page = await fetch(`${base}/conversations/${id}/history?limit=200`, { headers: { "x-api-key": KEY } });
const { messages } = await page.json();
const texts = new Map();
for (const { event } of seen) {
  if (event.type === "delta") texts.set(event.message_id, (texts.get(event.message_id) ?? "") + event.text);
}
const stored = messages.filter(({ sender, turn }) => sender === "assistant" && turn > 0);
assert.deepEqual(new Map(stored.map(({ id, text }) => [id, text])), texts);
assert.equal(messages.filter(({ sender }) => sender === "user").length, KILLS + 1);

console.log(`${seen.length} events, each once and in order, over ${KILLS} kills and ${opened} connections`);
process.exit(0);
