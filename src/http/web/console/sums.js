// What the days of a range come to.

// In the order in which they are stacked; what a new desk understands comes after them.
const FIRST = ["shopping", "warranty", "unknown"];

/** All days together. */
export function totals(days) {
  const sum = (take) => days.reduce((all, day) => all + take(day), 0);
  return {
    turns: sum((day) => day.turns),
    withoutPerson: sum((day) => day.without_person),
    askedPerson: sum((day) => day.asked_person),
    modelFailed: sum((day) => day.model_failed),
  };
}

/** A series for each intent that was understood on any day. */
export function intents(days) {
  const found = new Set(days.flatMap(({ by_intent: counts }) => Object.keys(counts).filter((intent) => counts[intent])));
  const ordered = [...FIRST.filter((intent) => found.has(intent)), ...[...found].filter((intent) => !FIRST.includes(intent)).sort()];
  return ordered.map((intent) => ({ key: `intent.${intent}`, name: intent, values: days.map(({ by_intent: counts }) => counts[intent] ?? 0) }));
}

/** The round number at or above `most`, and the steps up to it: at most five lines. */
export function scale(most, whole = false) {
  if (!(most > 0)) return { top: 1, steps: [0, 1] };
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((step) => step >= rough * 0.999);
  const step = whole ? Math.max(1, Math.ceil(nice)) : nice;
  const count = Math.ceil(most / step - 1e-9);
  return { top: step * count, steps: Array.from({ length: count + 1 }, (_, at) => at * step) };
}

/** The runs of days that have a value, as pairs of place and value: a line is broken where there is none. */
export function runs(values) {
  const found = [];
  let run;
  values.forEach((value, at) => {
    if (value === null || value === undefined) run = undefined;
    else {
      if (!run) found.push((run = []));
      run.push([at, value]);
    }
  });
  return found;
}
