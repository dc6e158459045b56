// The indexed documents and the unanswered questions.

import { ask, words } from "./desk.js";
import { badge, choice, empty, fill, head, textElement } from "./parts.js";
import { element } from "../assets/render.js";
import { totals } from "./sums.js";

const KINDS = ["all", "no_context", "clarify"];
const DAYS = [7, 30, 90];

export function knowledge() {
  const documents = element("div");
  const view = element("div", { class: "column" }, head("knowledge.title", "knowledge.about"), questions(), element("section", { class: "block" }, textElement("h2", "knowledge.documents"), documents));
  const read = () => fill(documents, async () => known(await ask("GET", "/console/api/knowledge")));
  words.onChange(view, read);
  read();
  return { element: view };
}

function known({ collections, embedding, problems }) {
  const parts = [vectors(embedding)];
  if (problems.length) parts.unshift(mistakes(problems));
  if (!collections.some(({ documents }) => documents.length)) parts.push(empty("knowledge.empty", "knowledge.empty_hint"));
  for (const collection of collections.filter(({ documents }) => documents.length)) parts.push(collected(collection));
  return parts;
}

function vectors({ on, model, last_sync: sync }) {
  if (!on) return textElement("p", "knowledge.no_vectors", undefined, { class: "quiet" });
  const line = element("p", { class: "quiet" }, textElement("span", "knowledge.vectors", { model: model ?? "" }));
  if (sync) line.append(" ", textElement("span", "knowledge.synced", { embedded: sync.embedded, removed: sync.removed }), " ", words.time(sync.at));
  if (!sync?.error) return line;
  return element("div", {}, line, element("p", { class: "failure" }, textElement("span", "knowledge.sync_failed"), " ", element("span", { lang: "en" }, sync.error)));
}

function mistakes(problems) {
  const lines = problems.map(({ file, line, problem }) => element("li", {}, element("code", {}, line ? `${file}:${line}` : file), " ", element("span", { lang: "en", dir: "auto" }, problem)));
  return element("div", { class: "failure", role: "alert" }, textElement("p", "knowledge.problems", { count: problems.length }), element("ul", {}, ...lines));
}

function collected({ name, folder, documents, chunks, embedded }) {
  const count = textElement("span", "knowledge.chunks", { count: chunks });
  const about = element("p", { class: "quiet" }, count);
  if (embedded !== null && embedded !== undefined) about.append(" · ", textElement("span", "knowledge.embedded", { count: embedded }));
  const heads = ["document", "language", "pieces", "changed"].map((key) => textElement("th", `knowledge.${key}`, undefined, { scope: "col", class: key === "pieces" ? "figure" : "" }));
  const rows = documents.map((document) =>
    element(
      "tr",
      {},
      element("th", { scope: "row", dir: "auto" }, document.title, element("small", {}, [document.file, document.version].filter(Boolean).join(" · "))),
      element("td", {}, document.language ?? "–"),
      element("td", { class: "figure" }, words.number(document.chunks)),
      element("td", {}, document.changed_at ? words.time(document.changed_at) : "–"),
    ),
  );
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
  const title = element("h3", {}, folder || name);
  return element("section", { class: "card" }, title, about, element("div", { class: "wide", tabindex: "0" }, table));
}

// The unanswered questions.
function questions() {
  const list = element("div");
  const kind = choice("questions.kind", KINDS, (value) => [value, `questions.${value}`]);
  const days = choice("questions.days", DAYS, (value) => [value, `days.${value}`]);
  days.value = "30";
  const read = () =>
    fill(list, async () => {
      const { groups } = await ask("GET", `/console/api/questions?kind=${kind.value}&days=${days.value}&limit=100`);
      if (groups.length) return asked(groups);
      const { days: all } = await ask("GET", `/console/api/figures?days=${days.value}`);
      const nothing = totals(all).turns ? "questions.empty" : "questions.none";
      return [empty(nothing, `${nothing}_hint`)];
    });
  for (const changed of [kind, days]) changed.addEventListener("change", read);
  read();
  return element("section", { class: "block" }, element("div", { class: "block-head" }, textElement("h2", "questions.title"), kind, days), textElement("p", "questions.about", undefined, { class: "quiet" }), list);
}

function asked(groups) {
  return [element("ol", { class: "questions card" }, ...groups.map(group))];
}

function group({ question, kind, language, count, last_at: last, examples }) {
  const first = element("span", { class: "question", dir: "auto", lang: language }, question);
  const about = element("span", { class: "row-more" }, badge(`questions.${kind}`, kind), textElement("span", "questions.times", { count }), words.time(last));
  const links = examples.map(({ conversation_id: id, turn, text }) =>
    element("li", {}, element("a", { href: `#/inbox/${encodeURIComponent(id)}/${turn}`, dir: "auto" }, text)),
  );
  return element("li", {}, element("details", {}, element("summary", {}, first, about), element("ul", { class: "examples" }, ...links)));
}
