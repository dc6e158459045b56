// Why a reply says what it says: what was understood and who decided, what it stands on, what was held back, and how long
// each step took.

import { bar, row, section, word } from "./facts.js";
import { element } from "../assets/elements.js";
import { said } from "./parts.js";
import { words } from "./desk.js";

// What has a place of its own, or is kept for replaying the turn (`before`); whatever else a desk notes is shown as it is.
const KNOWN = ["before", "intent", "social_topic", "clarify_attempts", "warranty", "warranty_row", "retrieval", "guards", "model_error", "timings_ms"];

// As the steps follow each other; those of other desks stand behind them.
const ORDER = ["waited", "classify", "warranty", "retrieve", "model_queue", "first_token", "generate"];

/** The receipt, folded: its first line says the most. */
export function receipt(why) {
  const parts = [understood(why), stoodOn(why), heldBack(why), others(why), times(why.timings_ms ?? {})];
  return element("details", { class: "receipt" }, summary(why), ...parts.filter(Boolean));
}

function summary({ intent, guards, warranty_row: found, retrieval, timings_ms: times = {} }) {
  const said_in_short = [];
  if (intent?.intent) said_in_short.push(word("intent", intent.intent));
  if (intent?.confidence !== undefined) said_in_short.push(element("span", {}, words.percent(intent.confidence)));
  if (intent?.source) said_in_short.push(word("source", intent.source));
  if (retrieval) said_in_short.push(said("span", "receipt.passages", { count: retrieval.passages?.length ?? 0 }));
  if (found) said_in_short.push(said("span", "receipt.row_found"));
  if (guards?.length) said_in_short.push(said("span", "receipt.held_back", { count: guards.length }, { class: "trouble" }));
  if (times.total ?? sum(times)) said_in_short.push(element("span", {}, words.duration(times.total ?? sum(times))));
  return element("summary", {}, said("strong", "receipt.title"), ...said_in_short);
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

function stoodOn({ warranty, warranty_row: found, retrieval }) {
  const rows = [];
  if (typeof warranty === "string") rows.push(row("receipt.warranty", warranty));
  if (found) {
    rows.push(row("receipt.serial", found.serial), row("receipt.product", found.product_name), row("receipt.ends", found.warranty_end_date));
  } else if (found === null) rows.push(row("receipt.warranty", said("span", "receipt.no_row")));
  if (retrieval) {
    rows.push(row("receipt.found_by", word("found_by", retrieval.by)));
    if (typeof retrieval.similarity === "number") rows.push(row("receipt.similarity", words.number(retrieval.similarity)));
    for (const passage of retrieval.passages ?? []) rows.push(row(undefined, bar(passage.score, words.number(passage.score)), chunk(passage)));
    if (!retrieval.passages?.length) rows.push(row("receipt.chunks", said("span", "receipt.no_chunks")));
  }
  return section("receipt.stands_on", rows);
}

function chunk({ title, section, file, version }) {
  const name = section && section !== title ? `${title} – ${section}` : title;
  const from = [file, version].filter(Boolean).join(", ");
  return element("span", { class: "chunk" }, element("span", { dir: "auto" }, name), element("small", {}, from));
}

function heldBack({ guards }) {
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

// The steps stand one behind another.
const sum = (steps) => Object.values(steps).reduce((all, took) => all + took, 0);
