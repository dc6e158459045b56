// The audit log: who did what at the console, when, and from which address.

import { ask, words } from "./desk.js";
import { empty, field, fill, head, pages, textElement, word } from "./parts.js";
import { element } from "../assets/render.js";

export function audit() {
  const who = element("input", { type: "search" });
  const day = element("input", { type: "date" });
  const shown = element("div");
  const view = element("div", { class: "column" }, head("audit.title", "audit.about", field("audit.who", who), field("audit.day", day)), shown);
  const page = (after) => {
    const query = new URLSearchParams();
    if (who.value.trim()) query.set("who", who.value.trim());
    if (day.value) query.set("day", day.value);
    if (after) query.set("after", after);
    return ask("GET", `/console/api/audit?${query}`);
  };
  const load = () => fill(shown, async () => list(await page(), page));
  for (const changed of [who, day]) changed.addEventListener("change", load);
  words.onChange(view, load);
  load();
  return { element: view };
}

function list({ entries, next }, page) {
  if (!entries.length) return [empty("audit.empty", "audit.empty_hint")];
  const heads = ["at", "who", "what", "client"].map((key) => `audit.${key}`);
  return pages(heads, entries.map(line), next, async (after) => {
    const read = await page(after);
    return { rows: read.entries.map(line), next: read.next };
  });
}

function line({ at, who, what, client, conversation_id: id, subject, detail }) {
  const about = [subject, detail].filter(Boolean).join(": ");
  const action = element("td", {}, word("audit_what", what));
  if (id) action.append(" ", textElement("a", "audit.conversation", undefined, { href: `#/inbox/${encodeURIComponent(id)}` }));
  if (about) action.append(element("small", { dir: "auto" }, about));
  return element("tr", {}, element("td", {}, words.time(at)), element("td", { dir: "auto" }, who || "–"), action, element("td", {}, client ?? "–"));
}
