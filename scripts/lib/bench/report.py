"""Writes docs/benchmarks.md and its plots."""
import platform
import subprocess
from pathlib import Path

from child import ROOT

PAGE = ROOT / "docs/benchmarks.md"
PLOTS = ROOT / "docs/benchmarks"
HEAD = """# Benchmarks

`scripts/bench` wrote this page; `scripts/bench NAME…` prints single figures. It builds a release, installs the packages of the peer from PyPI,
and needs two cores with nothing else to do.

- The server, or whatever is compared with it, has one core. The customers and the model share the other.
- Candidates take turns: A B C A B C, {rounds} rounds after one to warm up. A value is the median of the rounds, with the lower
  and the upper quartile. A ratio is formed within each round.
- The server itself is measured twice in each round. If the median of these ratios is further from 1 than {control:.0%}, the measurement
  is rejected and made once more. This page is written only if no measurement is rejected twice.
- **Peer**: the same turn in Python with FastAPI, LangGraph and SQLAlchemy (`benches/peer`), one uvicorn worker with uvloop. It stores
  conversations and messages, but no events: it keeps no journal.
- **SQL floor**: the rows that the server stored for a warranty turn, written through rusqlite in two commits, after the lookup of the serial number
  (`benches/harness/src/floor.rs`).
- **Relay**: hyper between the model and the reader, passing bytes on (`benches/harness/src/relay.rs`).
- Every reply is checked for its content.
"""


def write(results, seconds, rounds, control):
    PLOTS.mkdir(exist_ok=True)
    lines = [HEAD.format(rounds=rounds, control=control), "## Result", "", machine(seconds), ""]
    lines += table([figure for result in results for figure in result.figures])
    notes = [note for result in results for note in result.notes]
    if notes:
        lines += ["", *(f"- {note}" for note in notes)]
    for result in results:
        for name, draw in result.plots.items():
            plot(PLOTS / f"{name}.svg", draw)
            lines += ["", f"![{name}](benchmarks/{name}.svg)"]
    PAGE.write_text("\n".join(lines) + "\n")


def table(figures):
    yield "| # | figure | median (quartiles) | target | |"
    yield "|---|---|---|---|---|"
    for figure in figures:
        mark = {None: "", True: "reached", False: "**missed**"}[figure.reached]
        yield f"| {figure.number} | {figure.name} | {figure.shown()} | {figure.target} | {mark} |"


def machine(seconds):
    model = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "unknown")
    memory = int(Path("/proc/meminfo").read_text().split()[1]) / 2**20
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    changed = subprocess.run(["git", "status", "--porcelain", "src", "crates", "prompts"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return (
        f"Commit {commit}{' with uncommitted changes' if changed else ''}; Linux {platform.release()} on {model}, two cores used, "
        f"{memory:.0f} GiB; SQLite in WAL mode, `synchronous=NORMAL`; {seconds / 60:.0f} minutes."
    )


def plot(path, draw):
    # Only the whole report needs it.
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "frontdesk", "svg.fonttype": "none", "font.size": 9}
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    draw(axes)
    axes.grid(alpha=0.3)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
