// Plots with one value per day. Below each plot, a folded table shows the same values.

import { words } from "./desk.js";
import { textElement, svg } from "./parts.js";
import { element } from "../assets/render.js";
import { runs, scale } from "./sums.js";

const HEIGHT = 220;
const LEFT = 60;
const RIGHT = 28;
const TOP = 12;
const BOTTOM = 28;
// The number of colours, which repeat for further series.
const COLOURS = 8;
const NARROW = matchMedia("(max-width: 600px)");

/** Calls `changed()` when plots need another width. Returns a function that removes the listener. */
export function onResize(changed) {
  NARROW.addEventListener("change", changed);
  return () => NARROW.removeEventListener("change", changed);
}

// About the width on the screen, so that labels have a readable size, and the number of dates that fit.
const size = () => (NARROW.matches ? { width: 360, dates: 3 } : { width: 840, dates: 7 });

/** Returns a plot with stacked bars. A series has a text `key` (or a `name`) and a value for each date. */
export function bars(title, dates, series, text) {
  const sums = dates.map((_, at) => series.reduce((sum, { values }) => sum + values[at], 0));
  const { top, steps } = scale(Math.max(0, ...sums), true);
  const place = places(dates.length, top);
  const width = Math.max(1.5, place.step * 0.72);
  const stacks = dates.flatMap((_, at) => {
    let below = 0;
    return series.map(({ values }, index) => {
      const from = below;
      below += values[at];
      const attributes = { class: "series", x: place.x(at) - width / 2, y: place.y(below), width, height: place.y(from) - place.y(below) };
      return values[at] ? coloured(index, svg("rect", attributes)) : undefined;
    });
  });
  return figure(title, dates, series, text, steps, place, stacks.filter(Boolean));
}

/** Returns a plot with lines, which break where a day has no value. `most`: the top of the scale, if known. */
export function lines(title, dates, series, text, most) {
  const all = series.flatMap(({ values }) => values.filter((value) => value !== null));
  const { top, steps } = scale(most ?? Math.max(0, ...all));
  const place = places(dates.length, top);
  const drawn = series.flatMap(({ values }, index) =>
    runs(values).flatMap((run) => {
      const points = run.map(([at, value]) => `${place.x(at)},${place.y(value)}`).join(" ");
      const dots = run.map(([at, value]) => svg("circle", { class: "series", cx: place.x(at), cy: place.y(value), r: dates.length > 31 ? 2 : 3.5 }));
      return [svg("polyline", { class: "series", points }), ...dots].map((made) => coloured(index, made));
    }),
  );
  return figure(title, dates, series, text, steps, place, drawn);
}

function places(count, top) {
  const { width } = size();
  const step = (width - LEFT - RIGHT) / count;
  const height = HEIGHT - TOP - BOTTOM;
  return { step, width, x: (at) => LEFT + step * (at + 0.5), y: (value) => TOP + height * (1 - value / top) };
}

function figure(title, dates, series, text, steps, place, drawn) {
  const grid = steps.flatMap((value) => [
    svg("line", { class: "grid", x1: LEFT, x2: place.width - RIGHT, y1: place.y(value), y2: place.y(value) }),
    svg("text", { x: LEFT - 8, y: place.y(value) + 4, "text-anchor": "end" }, text(value)),
  ]);
  const every = Math.ceil(dates.length / size().dates);
  // Count from the last day, so that it always has a label.
  const named = dates.map((date, at) => [date, at]).filter(([, at]) => (dates.length - 1 - at) % every === 0);
  const below = named.map(([date, at]) => svg("text", { x: place.x(at), y: HEIGHT - 8, "text-anchor": "middle" }, words.day(date)));
  const heading = words.say(title);
  const drawing = svg("svg", { viewBox: `0 0 ${place.width} ${HEIGHT}`, role: "img", "aria-label": heading }, ...grid, ...drawn, ...hovers(dates, series, text, place), ...below);
  const caption = element("figcaption", {}, textElement("strong", title), ...(series.length > 1 ? [legend(series)] : []));
  return element("figure", { class: "card plot" }, caption, drawing, table(title, dates, series, text));
}

// Shows the values of a day as a tooltip.
function hovers(dates, series, text, place) {
  return dates.map((date, at) => {
    const lines = series.map((each) => `${named(each)}: ${shown(each.values[at], text)}`).join("\n");
    const title = svg("title", {}, `${words.day(date)}\n${lines}`);
    return svg("rect", { class: "hover", x: place.x(at) - place.step / 2, y: TOP, width: place.step, height: HEIGHT - TOP - BOTTOM }, title);
  });
}

function legend(series) {
  const entries = series.map((each, index) => element("li", {}, coloured(index, element("span", { class: "swatch", "aria-hidden": "true" })), named(each)));
  return element("ul", { class: "legend" }, ...entries);
}

function table(title, dates, series, text) {
  const heads = [textElement("th", "figures.day", undefined, { scope: "col" }), ...series.map((each) => element("th", { scope: "col" }, named(each)))];
  const rows = dates.map((date, at) =>
    element("tr", {}, element("th", { scope: "row" }, words.day(date)), ...series.map(({ values }) => element("td", { class: "figure" }, shown(values[at], text)))),
  );
  const made = element("table", {}, textElement("caption", title, undefined, { class: "unseen" }), element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows.reverse()));
  return element("details", {}, textElement("summary", "figures.as_table"), element("div", { class: "wide", tabindex: "0" }, made));
}

// Sets the colour of an element of the series at `index`.
const coloured = (index, made) => {
  made.style.setProperty("--series", `var(--series-${index % COLOURS})`);
  return made;
};
const named = ({ key, name }) => (words.has(key) ? words.say(key) : name);
const shown = (value, text) => (value === null || value === undefined ? "–" : text(value));
