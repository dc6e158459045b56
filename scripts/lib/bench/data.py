"""What data costs: a list of a million warranties, and a search among vectors."""
import json
import os
import random
import shutil
import subprocess
import time

from child import ROOT

from .programs import SERVER_CORE, on_core
from .rounds import Figure, Result, at_least, at_most, interleave, ratios

ROWS = 1_000_000
# An import takes seconds: fewer rounds than of turns.
IMPORT_ROUNDS = 3
NAMES = ["Laptop Dell Inspiron 15", "Chuột Logitech M331", "Bàn phím cơ AKKO 3087", "SSD Samsung 990 Pro 1TB", "Màn hình LG 27 inch"]
# The table of a shop that only wants the list in a database.
SCHEMA = "CREATE TABLE warranty_records (serial TEXT NOT NULL PRIMARY KEY, product_name TEXT NOT NULL, warranty_end_date TEXT NOT NULL)"


def imports(programs):
    """Figure 7."""
    install("sqlite3")
    ids = sorted(random.Random(2).sample(range(1_000_000_000), ROWS))
    figures = []
    for name, order in (("random keys", random.Random(3).sample(ids, ROWS)), ("sorted keys", ids)):
        lists = {year: write_list(programs.folder / f"{year}.csv", order, year) for year in (2026, 2031)}
        ours, theirs = programs.folder / "ours.db", programs.folder / "theirs.db"
        # The order matters: the rows are new, then the same, then others.
        found = interleave({
            ".import": lambda: import_theirs(theirs, lists[2026]),
            "new": lambda: import_ours(programs, ours, lists[2026], "new", fresh=True),
            "unchanged": lambda: import_ours(programs, ours, lists[2026], "unchanged"),
            "changed": lambda: import_ours(programs, ours, lists[2031], "changed"),
        }, IMPORT_ROUNDS)
        figures.append(Figure("7", f"rows a second of `.import`, {name}", [ROWS / seconds for seconds in found[".import"]]))
        for kind in ("new", "unchanged", "changed"):
            figures.append(at_least("7", f"`upsert-warranty` ÷ `.import`, {name}, {kind}", ratios(found[".import"], found[kind]), 1.0))
    return Result(figures, [f"Figure 7: {IMPORT_ROUNDS} rounds. `.import` always fills an empty table, which is the least that it can do."])


def write_list(path, ids, year):
    with open(path, "w", encoding="utf-8") as out:
        out.write("serial,product_name,warranty_end_date\n")
        for i in ids:
            out.write(f"SN{i:09d}-{i % 10},{NAMES[i % 5]},{year + i % 5}-{1 + i % 12:02d}-{1 + i % 28:02d}\n")
    return path


def import_theirs(database, path):
    remove(database)
    subprocess.run(["sqlite3", database, SCHEMA], check=True)
    return timed(["sqlite3", database, f'.import --csv --skip 1 "{path}" warranty_records'])[0]


def import_ours(programs, database, path, kind, fresh=False):
    if fresh:
        remove(database)
    command = [programs.binary("upsert-warranty"), "--file", path, "--json", "--database-url", f"sqlite://{database}"]
    seconds, said = timed(command)
    if json.loads(said)[kind] != ROWS:
        raise RuntimeError(f"not all rows were {kind}: {said}")
    return seconds


def remove(database):
    for old in database.parent.glob(f"{database.name}*"):
        old.unlink()


def timed(command):
    with on_core(SERVER_CORE):
        began = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return time.perf_counter() - began, done.stdout


def install(program):
    if not shutil.which(program):
        sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
        for command in (["update"], ["install", "-y", program]):
            subprocess.run([*sudo, "apt-get", "-q", *command], check=True, capture_output=True)


def vectors(programs):
    """Figure 8."""
    subprocess.run([ROOT / "scripts/chroma", "--install"], check=True, capture_output=True)
    command = [ROOT / "scripts/chroma", "--port", "0", "--path", programs.folder / "chroma"]
    address = programs.start(command, SERVER_CORE, r"^chroma: (\S+)")
    said = subprocess.run(
        [programs.binary("examples/bench_vectors")], env=os.environ | {"CHROMA_URL": address}, check=True, capture_output=True, text=True
    )
    figures = []
    for line in said.stdout.splitlines():
        of = json.loads(line)
        size = f"{of['vectors']:,} vectors"
        figures += [
            Figure("8", f"search in {size}, embedded, p50", of["embedded_ms"], " ms"),
            at_most("8", f"… embedded ÷ Chroma through us, {size}", ratios(of["embedded_ms"], of["through_us_ms"]), 1),
            at_most("8", f"… Chroma through us ÷ Chroma, {size}", ratios(of["through_us_ms"], of["direct_ms"]), 1.1),
        ]
    return Result(figures, ["Figure 8: the embedded search is exact; Chroma's is approximate. The server and its client have both cores."])
