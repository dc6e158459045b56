// The import of a warranty file, with a preview first.

import { announce, ask, words } from "./desk.js";
import { attempt, button, failure, head, icon, loading, problem, textElement } from "./parts.js";
import { element } from "../assets/render.js";

const PATH = "/console/api/warranty-files";

export function warranty() {
  const result = element("div", { class: "result" });
  const file = element("input", { type: "file", accept: ".csv,text/csv", class: "unseen", id: "warranty-file" });
  const zone = element(
    "label",
    { class: "drop", for: "warranty-file" },
    icon("M12 16V4M7 9l5-5 5 5M4 17v3h16v-3"),
    textElement("strong", "warranty.drop"),
    textElement("span", "warranty.drop_hint", undefined, { class: "quiet" }),
  );
  const view = element("div", { class: "column" }, head("warranty.title", "warranty.about"), file, zone, result, columns());
  const take = (chosen) => chosen && preview(chosen, result, () => file.focus());
  file.addEventListener("change", () => {
    take(file.files[0]);
    // Lets the user choose the same file again after fixing it.
    file.value = "";
  });
  for (const over of ["dragenter", "dragover"]) {
    view.addEventListener(over, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  view.addEventListener("dragleave", ({ relatedTarget }) => view.contains(relatedTarget) || zone.classList.remove("over"));
  view.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(event.dataTransfer.files[0]);
  });
  return { element: view };
}

function columns() {
  const example = "serial,product_name,warranty_end_date\nSN-1001,Dell Inspiron 15 3530,2027-01-05";
  return element("details", { class: "card" }, textElement("summary", "warranty.columns"), textElement("p", "warranty.columns_about"), element("pre", { tabindex: "0" }, element("code", {}, example)));
}

async function preview(file, result, focusFile) {
  const mine = (result.mine = {});
  result.replaceChildren(loading());
  try {
    const found = await send(file, { dry_run: true });
    if (result.mine === mine) result.replaceChildren(shown(file, found, result, focusFile));
    announce("warranty.counts", counts(found));
  } catch (error) {
    if (result.mine === mine) result.replaceChildren(failure(error, () => preview(file, result, focusFile)));
  }
}

const send = (file, query) => ask("POST", `${PATH}?${new URLSearchParams(query)}`, file.slice(0, file.size, "text/csv"), { "content-type": "text/csv" });

const counts = (found) => ({ new: found.new, changed: found.changed, unchanged: found.unchanged, refused: found.refused_count });

function shown(file, found, result, focusFile) {
  const good = found.new + found.changed;
  const heading = textElement("h2", "warranty.looked_at", undefined, { tabindex: "-1" });
  const tiles = ["new", "changed", "unchanged", "refused"].map((name) => {
    const count = counts(found)[name];
    return element("li", { class: count ? name : "none" }, element("strong", {}, words.number(count)), textElement("span", `warranty.${name}`));
  });
  const name = element("p", { class: "quiet", dir: "auto" }, file.name);
  const made = element("section", { class: "card preview" }, heading, name, element("ul", { class: "tiles" }, ...tiles));
  if (found.repeated) made.append(textElement("p", "warranty.repeated", { count: found.repeated }, { class: "quiet" }));
  if (found.ignored_columns.length) made.append(textElement("p", "warranty.ignored", { columns: found.ignored_columns.join(", ") }, { class: "quiet" }));
  if (found.changes.length) made.append(changes(found));
  if (found.refused_count) made.append(refusals(found));
  const trouble = element("div");
  const cancel = button("cancel", () => {
    result.replaceChildren();
    focusFile();
  });
  if (!good) {
    made.append(textElement("p", found.unchanged ? "warranty.nothing_new" : "warranty.nothing_good"), element("div", { class: "actions" }, cancel));
    return made;
  }
  const key = found.refused_count ? "warranty.apply_good" : "warranty.apply";
  const apply = button(key, () => attempt(apply, trouble, () => applied(file, found, result)), { class: "button strong", values: { count: good } });
  made.append(textElement("p", "warranty.not_yet", undefined, { class: "quiet" }), trouble, element("div", { class: "actions" }, cancel, apply));
  queueMicrotask(() => heading.focus());
  return made;
}

async function applied(file, found, result) {
  const query = { dry_run: false, hash: found.file_hash };
  if (found.refused_count) query.skip_refused = true;
  const done = await send(file, query);
  const line = textElement("p", "warranty.applied", counts(done), { tabindex: "-1" });
  result.replaceChildren(element("section", { class: "card success" }, line));
  announce("warranty.applied", counts(done));
  line.focus();
}

// Lists the changed rows with their old and new values.
function changes({ changes: rows, changed: count }) {
  const shown = ({ serial, old, new: next }) => {
    const differing = ["product_name", "warranty_end_date"].filter((name) => old[name] !== next[name]);
    const written = (values, name) => (name === "warranty_end_date" ? words.date(values[name]) : values[name]);
    return element("li", {}, element("code", {}, serial), " ", element("span", { dir: "auto" }, differing.map((name) => `${written(old, name)} → ${written(next, name)}`).join("; ")));
  };
  const made = element("div", {}, textElement("h3", "warranty.changed_rows", { count }), element("ul", { class: "refusals" }, ...rows.map(shown)));
  if (count > rows.length) made.append(textElement("p", "warranty.more_refused", { count: count - rows.length }, { class: "quiet" }));
  return made;
}

// Lists the invalid rows by line.
function refusals({ refused, refused_count: count }) {
  const lines = refused.map(({ row, field, value, problem: said, code, numbers }) => {
    const [n, m] = numbers.map(String);
    const why = problem(`warranty_problem.${code}`, said, { n, m });
    const about = element("span", { class: "quiet" }, ...(field ? [element("code", {}, field), ": "] : []), why);
    return element("li", {}, textElement("strong", "warranty.row", { row: String(row) }), " ", element("code", { dir: "auto" }, value || "–"), " ", about);
  });
  const made = element("div", {}, textElement("h3", "warranty.refused_rows", { count }), element("ul", { class: "refusals" }, ...lines));
  const shown = new Set(refused.map(({ row }) => row)).size;
  if (count > shown) made.append(textElement("p", "warranty.more_refused", { count: count - shown }, { class: "quiet" }));
  return made;
}
