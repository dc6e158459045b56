// Receipts: how a message was answered (intent, sources, guarded passages and timings), and reports of wrong answers.

import { announce, ask, words } from "./desk.js";
import { attempt, bar, button, dialog, field, row, textElement, section, word } from "./parts.js";
import { element } from "../assets/render.js";

// Fields with a section, and `before`, which is for replays. Other fields are listed unformatted.
const KNOWN = ["before", "intent", "social_topic", "clarify_attempts", "warranty", "warranty_row", "retrieval", "guards", "model_error", "timings_ms"];

// The order of the steps. Steps of other desks follow.
const ORDER = ["waited", "classify", "warranty", "retrieve", "model_queue", "first_token", "generate"];

/** Returns the folded receipt, whose first line is a summary. */
export function receipt(why) {
  const parts = [understood(why), sourced(why), guarded(why), others(why), times(why.timings_ms ?? {})];
  return element("details", { class: "receipt" }, summary(why), ...parts.filter(Boolean));
}

function summary({ intent, guards, warranty_row: found, retrieval, timings_ms: times = {} }) {
  const summarized = [];
  if (intent?.intent) summarized.push(word("intent", intent.intent));
  if (intent?.confidence !== undefined) summarized.push(element("span", {}, words.percent(intent.confidence)));
  if (intent?.source) summarized.push(word("source", intent.source));
  if (retrieval) summarized.push(textElement("span", "receipt.passages", { count: retrieval.passages?.length ?? 0 }));
  if (found) summarized.push(textElement("span", "receipt.row_found"));
  if (guards?.length) summarized.push(textElement("span", "receipt.held_back", { count: guards.length }, { class: "trouble" }));
  if (times.total ?? sum(times)) summarized.push(element("span", {}, words.duration(times.total ?? sum(times))));
  return element("summary", {}, textElement("strong", "receipt.title"), ...summarized);
}

function understood({ intent, social_topic: topic, clarify_attempts: attempts, model_error: error }) {
  const rows = [];
  if (intent?.intent) rows.push(row("receipt.intent", word("intent", intent.intent)));
  if (intent?.confidence !== undefined) rows.push(row("receipt.confidence", bar(intent.confidence, words.percent(intent.confidence))));
  if (intent?.source) rows.push(row("receipt.decided", word("source", intent.source)));
  if (intent?.matched?.length) rows.push(row("receipt.matched", intent.matched.join(", ")));
  if (intent?.rationale) rows.push(row("receipt.rationale", intent.rationale));
  if (intent?.model_error) rows.push(row("receipt.classifier_error", intent.model_error));
  if (topic) rows.push(row("receipt.topic", topic));
  if (attempts) rows.push(row("receipt.attempts", words.number(attempts)));
  if (error) rows.push(row("receipt.model_error", error));
  return section("receipt.understood", rows);
}

function sourced({ warranty, warranty_row: found, retrieval }) {
  const rows = [];
  if (typeof warranty === "string") rows.push(row("receipt.warranty", warranty));
  if (found) {
    rows.push(row("receipt.serial", found.serial), row("receipt.product", found.product_name), row("receipt.ends", found.warranty_end_date));
  } else if (found === null) rows.push(row("receipt.warranty", textElement("span", "receipt.no_row")));
  if (retrieval) {
    rows.push(row("receipt.found_by", word("found_by", retrieval.by)));
    if (typeof retrieval.similarity === "number") rows.push(row("receipt.similarity", words.number(retrieval.similarity)));
    for (const passage of retrieval.passages ?? []) rows.push(row(undefined, bar(passage.score, words.number(passage.score)), chunk(passage)));
    if (!retrieval.passages?.length) rows.push(row("receipt.chunks", textElement("span", "receipt.no_chunks")));
  }
  return section("receipt.stands_on", rows);
}

function chunk({ title, section, file, version }) {
  const name = section && section !== title ? `${title} – ${section}` : title;
  const from = [file, version].filter(Boolean).join(", ");
  return element("span", { class: "chunk" }, element("span", { dir: "auto" }, name), element("small", {}, from));
}

function guarded({ guards }) {
  const rows = (guards ?? []).map(({ reason, kind, text }) => {
    const what = element("span", {}, word("guard", reason), kind ? ` (${words.has(`fact.${kind}`) ? words.say(`fact.${kind}`) : kind})` : "");
    return row(undefined, element("code", { dir: "auto" }, text ?? "–"), what);
  });
  return section("receipt.guarded", rows);
}

function others(why) {
  const rows = Object.entries(why)
    .filter(([name]) => !KNOWN.includes(name))
    .map(([name, value]) => row(undefined, element("code", {}, typeof value === "string" ? value : JSON.stringify(value)), name));
  return section("receipt.more", rows);
}

function times(steps) {
  const { total, ...each } = steps;
  const longest = Math.max(1, ...Object.values(each));
  const place = (step) => (ORDER.indexOf(step) + 1 || ORDER.length + 1);
  const ordered = Object.entries(each).sort(([one], [other]) => place(one) - place(other));
  const rows = ordered.map(([name, took]) => row(undefined, bar(took / longest, words.duration(took)), word("step", name)));
  if (total !== undefined) rows.push(row("receipt.total", words.duration(total)));
  return section("receipt.times", rows);
}

const sum = (steps) => Object.values(steps).reduce((all, took) => all + took, 0);

/** Opens a form for a report about this turn's reply. `frontdesk eval conversations` replays reported turns. */
export function wrong(conversation, turn) {
  const note = element("textarea", { rows: "3", dir: "auto" });
  const expected = element("textarea", { rows: "2", dir: "auto" });
  const trouble = element("div");
  const store = textElement("button", "wrong.store", undefined, { type: "submit", class: "button strong" });
  const cancel = button("cancel", () => asked.close());
  const form = element(
    "form",
    { novalidate: true },
    textElement("p", "wrong.about", undefined, { class: "quiet" }),
    field("wrong.note", note, "wrong.note_hint"),
    field("wrong.expected", expected, "wrong.expected_hint"),
    trouble,
    element("div", { class: "actions" }, cancel, store),
  );
  const asked = dialog("wrong.title", undefined, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await attempt(store, trouble, async () => {
      const path = `/console/api/conversations/${encodeURIComponent(conversation)}/turns/${turn}/wrong`;
      const body = { note: note.value.trim() || undefined, expected: expected.value.trim() || undefined };
      const { case: file } = await ask("POST", path, body);
      const done = button("done", () => asked.close(), { class: "button strong" });
      form.replaceChildren(textElement("p", "wrong.stored"), element("p", {}, element("code", {}, file)), textElement("p", "wrong.stored_hint", undefined, { class: "quiet" }), element("div", { class: "actions" }, done));
      announce("wrong.stored");
      done.focus();
    });
  });
}
