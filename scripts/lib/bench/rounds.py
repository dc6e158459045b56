"""Candidates in turn, and what their numbers say."""
from dataclasses import dataclass, field
from statistics import median, quantiles

ROUNDS = 7
# A candidate that is measured twice in each round may differ from itself by so much.
CONTROL = 0.05


@dataclass
class Figure:
    """A row of the table."""

    number: str
    name: str
    values: list
    unit: str = ""
    target: str = ""
    # Whether the median reaches the target; none without one.
    reached: bool | None = None
    note: str = ""

    def shown(self):
        if len(self.values) == 1:
            return f"{short(self.values[0])}{self.unit}"
        low, middle, high = quantiles(self.values, n=4, method="inclusive")
        return f"{short(middle)}{self.unit} ({short(low)} to {short(high)})"


def short(value):
    """Three digits that count: 0.365, 16.8, 1,260."""
    return f"{float(f'{value:.3g}'):,.12g}"


def counted(number, thing):
    """Returns a number with its noun: 1 client, 8 clients."""
    return f"{number} {thing}{'s' * (number != 1)}"


@dataclass
class Result:
    """What one measurement adds to the report."""

    figures: list = field(default_factory=list)
    # The remarks below the table.
    notes: list = field(default_factory=list)
    # Name of the file → function that draws on matplotlib's axes.
    plots: dict = field(default_factory=dict)


def at_least(number, name, values, target, unit="", **more):
    return Figure(number, name, values, unit, f"≥ {target}{unit}", median(values) >= target, **more)


def at_most(number, name, values, target, unit="", **more):
    return Figure(number, name, values, unit, f"≤ {target}{unit}", median(values) <= target, **more)


def interleave(candidates, rounds=ROUNDS):
    """Runs A B C A B C …, once more than counted to warm up; the results of each candidate."""
    results = {name: [] for name in candidates}
    for number in range(rounds + 1):
        for name, run in candidates.items():
            result = run()
            if number:
                results[name].append(result)
    return results


def ratios(above, below):
    """The ratio of each round."""
    return [a / b for a, b in zip(above, below, strict=True)]


def note_control(notes, name, first, second):
    """Notes how much the same program differs from itself in a round. Beyond `CONTROL`, the figures are rejected."""
    off = abs(median(ratios(first, second)) - 1)
    is_rejected = off > CONTROL
    notes.append(Note(f"{name}: the same server, measured twice in each round, differs by {off:.1%}{'. REJECTED' * is_rejected}", is_rejected))


class Note(str):
    """A remark below the table."""

    def __new__(cls, text, is_rejection=False):
        note = super().__new__(cls, text)
        note.is_rejection = is_rejection
        return note


def percentile(values, percent):
    values = sorted(values)
    return values[min(len(values) - 1, len(values) * percent // 100)]
