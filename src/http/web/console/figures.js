// Reports: the number of questions, their intents, how often a person was needed, and response times. Each plot has a table
// for screen readers.

import { ask, memory, words } from "./desk.js";
import { choice, empty, fill, head, textElement, word } from "./parts.js";
import { bars, lines, onResize } from "./plot.js";
import { element } from "../assets/render.js";
import { intents, totals } from "./sums.js";

const DAYS = [7, 30, 90];

export function figures() {
  const days = choice("figures.range", DAYS, (value) => [value, `days.${value}`]);
  days.value = String(memory.get("days") ?? 30);
  const shown = element("div");
  const view = element("div", { class: "column figures" }, head("figures.title", "figures.about", days), shown);
  let read;
  const load = () =>
    fill(shown, async () => {
      read = await ask("GET", `/console/api/figures?days=${days.value}`);
      return plots(read);
    });
  days.addEventListener("change", () => {
    memory.set("days", Number(days.value));
    load();
  });
  const again = () => read && shown.replaceChildren(...plots(read));
  words.onChange(view, again);
  const end = onResize(again);
  load();
  return { element: view, close: end };
}

function plots({ days, parts, time_zone: zone }) {
  const sum = totals(days);
  const states = element("ul", { class: "parts" }, ...Object.entries(parts).map(([part, state]) => element("li", { class: state }, word("part", part), ": ", word("state", state))));
  if (!sum.turns) return [states, empty("figures.empty", "figures.empty_hint")];
  const tiles = [
    ["figures.turns", words.number(sum.turns)],
    ["figures.alone", words.percent(sum.withoutPerson / sum.turns)],
    ["figures.asked_person", words.number(sum.askedPerson)],
    ["figures.failed", words.number(sum.modelFailed)],
  ].map(([key, text]) => element("li", {}, element("strong", {}, text), textElement("span", key)));
  const dates = days.map(({ date }) => date);
  const share = ({ turns, without_person: alone }) => (turns ? alone / turns : null);
  const duration = (value) => words.duration(value);
  return [
    states,
    element("ul", { class: "tiles" }, ...tiles),
    bars("figures.by_intent", dates, intents(days), (value) => words.number(value)),
    lines("figures.without_person", dates, [{ key: "figures.alone", values: days.map(share) }], (value) => words.percent(value), 1),
    lines(
      "figures.first_text",
      dates,
      [
        { key: "figures.p50", values: days.map(({ first_text_ms: ms }) => ms.p50) },
        { key: "figures.p95", values: days.map(({ first_text_ms: ms }) => ms.p95) },
      ],
      duration,
    ),
    bars("figures.model", dates, [{ key: "figures.model_failed", values: days.map(({ model_failed: failed }) => failed) }], (value) => words.number(value)),
    textElement("p", "figures.zone", { zone }, { class: "quiet" }),
  ];
}
