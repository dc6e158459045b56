// The console's totals and texts, without a browser.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { fakeElement, give, load } from "./source.js";

const ROOT = join(import.meta.dirname, "../../..");
const FOLDER = join(ROOT, "src/http/web/console");
const read = (path) => readFileSync(join(ROOT, path), "utf8");
const { intents, runs, scale, totals } = await import(`data:text/javascript,${encodeURIComponent(read("src/http/web/console/sums.js"))}`);

const day = (by_intent, more = {}) => ({ turns: 0, by_intent, without_person: 0, asked_person: 0, model_failed: 0, ...more });

test("totals add up all days", () => {
  const days = [day({}, { turns: 3, without_person: 2, asked_person: 1 }), day({}), day({}, { turns: 1, without_person: 1, model_failed: 1 })];
  assert.deepEqual(totals(days), { turns: 4, withoutPerson: 3, askedPerson: 1, modelFailed: 1 });
  assert.deepEqual(totals([]), { turns: 0, withoutPerson: 0, askedPerson: 0, modelFailed: 0 });
});

test("each intent has a series in stable order", () => {
  const found = intents([day({ zebra: 1, unknown: 2 }), day({ warranty: 0, shopping: 3, returns: 1 })]);
  assert.deepEqual(found.map(({ name }) => name), ["shopping", "unknown", "returns", "zebra"]);
  assert.deepEqual(found.map(({ values }) => values), [[0, 3], [2, 0], [0, 1], [1, 0]]);
});

for (const [most, whole, steps] of [
  [0, true, [0, 1]],
  [1, true, [0, 1]],
  [3, true, [0, 1, 2, 3]],
  [31, true, [0, 10, 20, 30, 40]],
  [100, true, [0, 25, 50, 75, 100]],
  [1, false, [0, 0.25, 0.5, 0.75, 1]],
  [2900, false, [0, 1000, 2000, 3000]],
]) {
  test(`the scale to ${most} has round steps`, () => {
    const found = scale(most, whole);
    assert.deepEqual(found.steps, steps);
    assert.equal(found.top, steps.at(-1));
    assert.ok(found.top >= most);
  });
}

test("a line breaks at a day without value", () => {
  assert.deepEqual(runs([null, 1, 2, null, 0, undefined]), [[[1, 1], [2, 2]], [[4, 0]]]);
});

test("dates are written as in the chat", async (t) => {
  give(t, "setInterval", () => {});
  const { Phrases } = await load("console/phrases.js");
  const format = (language) => read(`prompts/texts/common.${language}.toml`).match(/^date_format = "(.*)"$/m)[1];
  for (const [language, given, date, day] of [
    ["en", format("en"), "Jan 5, 2099", "Jan 5"],
    ["vi", format("vi"), "5/1/2099", "5/1"],
    ["pl", format("pl"), "5.01.2099", "5.01"],
    ["en", "%Y-%m-%d", "2099-01-05", "01-05"],
    // A shop's format with a code that is unknown here, and a language without a format.
    ["en", "%A %Y", "Jan 5, 2099", "Jan 5"],
    ["en", undefined, "Jan 5, 2099", "Jan 5"],
  ]) {
    const words = new Phrases({ [language]: {} }, "Shop", language, { [language]: given });
    assert.deepEqual([words.date("2099-01-05"), words.day("2099-01-05")], [date, day], given);
    const shown = [2099, 2100].map((year) => words.ago(new Date(2099, 0, 5), new Date(year, 1, 1)));
    assert.deepEqual(shown, [day, date], given);
  }
});

// The texts of a file by table and key, as the server sends them to the page.
function texts(language) {
  let table = "";
  const found = new Map();
  for (const line of read(`prompts/texts/console.${language}.toml`).split("\n")) {
    const head = line.match(/^\[(\w+)\]$/)?.[1];
    const entry = line.match(/^(\w+) = "(.*)"$/);
    if (head) table = `${head}.`;
    if (entry) found.set(table + entry[1], entry[2]);
  }
  return found;
}

// The console shares render.js, which also has texts.
const scripts = readdirSync(FOLDER).filter((name) => /\.(js|html)$/.test(name)).map((name) => readFileSync(join(FOLDER, name), "utf8")).concat(read("src/http/web/assets/render.js")).join("\n");
const tables = new Set([...texts("en").keys()].filter((key) => key.includes(".")).map((key) => key.split(".")[0]));
const EVENTS = /^(message|turn|conversation)\.(start|end|done|changed|deleted)$/;

test("every console text exists in both languages", () => {
  const said = [...scripts.matchAll(/"([a-z_]+)\.([a-z_0-9]+)"/g)].filter(([, table]) => tables.has(table)).map(([, table, name]) => `${table}.${name}`);
  const wanted = new Set(said.filter((key) => !EVENTS.test(key)));
  assert.ok(wanted.size > 100, `${wanted.size}`);
  for (const language of ["en", "vi"]) {
    const known = texts(language);
    assert.deepEqual([...wanted].filter((key) => !known.has(key)), [], language);
  }
});

test("every refusal has words in both languages", () => {
  const source = read("src/http/error.rs") + read("src/http/problem.rs");
  const codes = new Set([...source.matchAll(/(?:StatusCode::[A-Z_]+|status),\s*"([a-z_]+)"/g)].map(([, code]) => code));
  assert.ok(codes.has("not_taken") && codes.has("invalid_request") && codes.size > 15, [...codes].join());
  const parts = read("src/http/web/console/parts.js");
  const byStatus = ["unauthorized", "forbidden_origin", "forbidden", "not_found", "too_large", "rate_limited", "overloaded", "draining", "unavailable", "internal"];
  for (const status of [401, 403, 404, 413, 429, 503]) assert.ok(parts.includes(`${status}: "trouble.`), `${status}`);
  for (const code of ["illegal_step", "already_resolved"]) assert.ok(parts.includes(`"${code}"`), code);
  // What the page sends wrongly is shown in the server's words.
  const mistakes = ["invalid_json", "unsupported_media_type", "method_not_allowed", "invalid_request"];
  const others = [...byStatus, "illegal_step", "already_resolved", ...mistakes];
  const wanted = [...codes].filter((code) => !others.includes(code)).sort();
  for (const language of ["en", "vi"]) {
    const known = [...texts(language).keys()].filter((key) => key.startsWith("refusal."));
    assert.deepEqual(known.map((key) => key.slice("refusal.".length)).sort(), wanted, language);
  }
});

test("refusals name the numbers of the problem", async (t) => {
  const { Refusal } = await load("assets/request.js");
  const words = { has: () => true, put: (made, key, values) => Object.assign(made, { key, values }) };
  give(t, "page", { element: fakeElement, words, Refusal });
  const { failure } = await load("console/parts.js", {
    "console/desk.js": "export const { words } = page;",
    "assets/render.js": "export const { element } = page;",
    "assets/request.js": "export const { Refusal } = page;",
  });
  const shown = (status, problem) => failure(new Refusal(status, problem, 5)).children[0];
  for (const [limit, text] of [[65_536, "64 KiB"], [20 << 20, "20 MB"], [undefined, "–"]]) {
    const { key, values } = shown(413, { code: "too_large", limit, detail: "More than 7 MB." });
    assert.deepEqual([key, values.limit], ["trouble.too_large", text]);
  }
  const { key, values } = shown(422, { code: "invalid_request", reason: "not_utf8", line: 1234, detail: "Row 9." });
  assert.deepEqual([key, values.n], ["file_problem.not_utf8", "1234"]);
  assert.equal(shown(500, { code: "internal", request_id: "r-1" }).values.request, "r-1");
});

test("every text of the console is used", () => {
  // Tables whose keys are computed: from a status, a kind, a number of days.
  const made = [...scripts.matchAll(/`([a-z_]+)\.\$\{/g)].map(([, table]) => table);
  const words = [...scripts.matchAll(/word\("([a-z_]+)"/g)].map(([, table]) => table);
  const sentences = [...scripts.matchAll(/sentence\("([a-z_]+)"/g)].map(([, table]) => table);
  const whole = new Set([...made, ...words, ...sentences]);
  const unsaid = [...texts("en").keys()].filter((key) => {
    const plain = key.replace(/_one$/, "");
    const table = plain.includes(".") ? plain.split(".")[0] : "";
    return !whole.has(table) && !scripts.includes(`"${plain}"`) && !scripts.includes(`{${plain}}`);
  });
  // Computed from another key: `inbox.empty` and a status, and the hint of each.
  assert.deepEqual(unsaid.filter((key) => !/^inbox\.empty_/.test(key)), []);
});
