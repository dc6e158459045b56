// The goods of a shop of the commerce desk, with prices and stock.

import { ask, words } from "./desk.js";
import { badge, empty, field, fill, head, textElement } from "./parts.js";
import { element } from "../assets/render.js";

export function goods() {
  const query = element("input", { type: "search" });
  const shown = element("div");
  const view = element("div", { class: "column" }, head("goods.title", "goods.about", field("goods.search", query)), shown);
  const load = () => fill(shown, async () => list(await ask("GET", `/console/api/catalog?${new URLSearchParams({ q: query.value })}`)));
  query.addEventListener("change", load);
  words.onChange(view, load);
  load();
  return { element: view };
}

function list({ items, total }) {
  if (!items.length) return [empty("goods.empty", "goods.empty_hint")];
  const heads = ["id", "name", "category", "price", "stock"].map((key) => textElement("th", `goods.${key}`, undefined, { scope: "col" }));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...items.map(line)));
  const parts = [element("div", { class: "wide card", tabindex: "0" }, table)];
  if (total > items.length) parts.push(textElement("p", "goods.more", { shown: items.length, total }, { class: "quiet" }));
  return parts;
}

function line({ id, name, category, price, stock, variants }) {
  const choices = Object.entries(variants).map(([variant, all]) => `${variant}: ${all.join(", ")}`);
  const named = element("td", { dir: "auto" }, name, ...(choices.length ? [element("small", {}, choices.join("; "))] : []));
  const left = element("td", {}, stock ? words.number(stock) : badge("goods.sold_out", "waiting"));
  return element("tr", {}, element("td", {}, id), named, element("td", { dir: "auto" }, category), element("td", {}, words.money(price)), left);
}
