// Totals, series and scales for the reports.

// The first series of the stack. Intents of other desks follow.
const FIRST = ["shopping", "warranty", "unknown"];

/** Returns the totals of all days. */
export function totals(days) {
  const sum = (take) => days.reduce((all, day) => all + take(day), 0);
  return {
    turns: sum((day) => day.turns),
    withoutPerson: sum((day) => day.without_person),
    askedPerson: sum((day) => day.asked_person),
    modelFailed: sum((day) => day.model_failed),
  };
}

/** Returns a series for each intent of these days. */
export function intents(days) {
  const found = new Set(days.flatMap(({ by_intent: counts }) => Object.keys(counts).filter((intent) => counts[intent])));
  const ordered = [...FIRST.filter((intent) => found.has(intent)), ...[...found].filter((intent) => !FIRST.includes(intent)).sort()];
  return ordered.map((intent) => ({ key: `intent.${intent}`, name: intent, values: days.map(({ by_intent: counts }) => counts[intent] ?? 0) }));
}

/** Returns a round number at or above `most`, and at most five steps up to it. */
export function scale(most, whole = false) {
  if (!(most > 0)) return { top: 1, steps: [0, 1] };
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((step) => step >= rough * 0.999);
  const step = whole ? Math.max(1, Math.ceil(nice)) : nice;
  const count = Math.ceil(most / step - 1e-9);
  return { top: step * count, steps: Array.from({ length: count + 1 }, (_, at) => at * step) };
}

/** Returns the runs of days with values, as pairs of index and value. A line breaks between runs. */
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
