"""What a turn costs: next to its SQL, a peer in Python, a full database and too many customers."""
import shutil
import sqlite3
import time
from statistics import median

from client import Client

from .programs import QUESTION, SERIAL, WARRANTY, WARRANTY_REPLY, processor_seconds
from .rounds import Figure, Result, at_least, at_most, counted, interleave, note_control, percentile, ratios

CLIENTS = 8
TURNS = 3000
ASKED = {"text": WARRANTY, "expect": WARRANTY_REPLY}


def rate(run):
    return run["turns"] / run["seconds"]


def warranty(programs):
    """Figure 1."""
    model = programs.model()
    server, peer = programs.frontdesk("turns"), programs.peer(model)
    address = server.address
    programs.load(address, clients=CLIENTS, turns=200, **ASKED)
    database = copy_of(server, programs.folder / "floor.db")
    spent = []

    def ours():
        before = processor_seconds(server.process.pid)
        run = programs.load(address, clients=CLIENTS, turns=TURNS, **ASKED)
        # The turns of the warm-up as well.
        spent.append((processor_seconds(server.process.pid) - before) / (TURNS + 5 * CLIENTS) * 1000)
        return rate(run)

    candidates = {
        "frontdesk": ours,
        "peer": lambda: rate(programs.load(peer, clients=CLIENTS, turns=TURNS // 10, **ASKED)),
        "floor": lambda: rate(programs.run("floor", "--database", database, "--turns", 2 * TURNS, "--serial", SERIAL)),
        "frontdesk again": ours,
    }
    found = interleave(candidates)
    # The round that warms up measured it twice as well.
    del spent[:2]
    notes = []
    note_control(notes, "warranty turns", found["frontdesk"], found["frontdesk again"])
    of_floor, of_peer = ratios(found["frontdesk"], found["floor"]), ratios(found["frontdesk"], found["peer"])
    figures = [
        Figure("1", f"warranty turns a second, {CLIENTS} clients", found["frontdesk"]),
        Figure("1", "… of the peer", found["peer"]),
        Figure("1", "… of the SQL floor", found["floor"]),
        at_least("1", "warranty turns ÷ SQL floor", of_floor, 0.3),
        at_least("1", "warranty turns ÷ peer", of_peer, 15),
        Figure("1", "processor time of a warranty turn", spent, " ms"),
    ]
    by_clients = {
        name: {count: rate(programs.load(to, clients=count, turns=turns, **ASKED)) for count in (1, 2, 4, 8, 16, 32, 64)}
        for name, to, turns in (("frontdesk", address, TURNS // 3), ("peer", peer, TURNS // 20))
    }

    def throughput(axes):
        for name, rates in by_clients.items():
            axes.plot(list(rates), list(rates.values()), marker="o", label=name)
        axes.axhline(median(found["floor"]), linestyle="--", color="grey", label="SQL floor")
        axes.set(xlabel="clients", ylabel="warranty turns a second", xscale="log", yscale="log")
        axes.set_xticks([1, 2, 4, 8, 16, 32, 64], labels=[1, 2, 4, 8, 16, 32, 64])
        axes.legend()

    return Result(figures, notes, {"throughput": throughput})


def copy_of(server, path):
    """A copy of the server's database."""
    with sqlite3.connect(server.folder / "database/frontdesk.db") as live, sqlite3.connect(path) as copy:
        live.backup(copy)
    return path


def first_text(programs):
    """Figures 2 and 3."""
    model = programs.model(pieces=64)
    server, peer = programs.frontdesk("replies", model), programs.peer(model)
    figures, notes, plots = [], [], {}
    for clients, turns in ((1, 600), (8, 480), (64, 768)):
        of = {"clients": clients, "text": QUESTION}
        candidates = {
            "frontdesk": lambda: programs.load(server.address, turns=turns, **of),
            "peer": lambda: programs.load(peer, turns=turns // 4, **of),
            "model": lambda: programs.load(model, turns=turns, model=True, **of),
            "frontdesk again": lambda: programs.load(server.address, turns=turns, **of),
        }
        found = interleave(candidates)
        first = {
            name: {percent: [percentile(run["first_us"], percent) / 1000 for run in runs] for percent in (50, 99)}
            for name, runs in found.items()
        }
        note_control(notes, f"first text, {counted(clients, 'client')}", first["frontdesk"][50], first["frontdesk again"][50])
        if clients == 1:
            direct = first["model"][50]
            added, by_peer = ([a - b for a, b in zip(first[name][50], direct, strict=True)] for name in ("frontdesk", "peer"))
            figures += [
                Figure("2", "first text of the model alone, p50", direct, " ms"),
                at_most("2", "time that the server adds to it, p50", added, 0.5, " ms"),
                at_least("2", "time that the peer adds ÷ ours", ratios(by_peer, added), 8),
            ]
        else:
            for percent in (50, 99):
                ratio = ratios(first["frontdesk"][percent], first["peer"][percent])
                figures.append(Figure("3", f"first text, {clients} clients, p{percent}", first["frontdesk"][percent], " ms"))
                figures.append(at_most("3", f"… ÷ the peer's, p{percent}", ratio, 1))
            figures.append(Figure("3", f"64-piece replies a second, {clients} clients", [rate(run) for run in found["frontdesk"]]))
            figures.append(Figure("3", "… of the peer", [rate(run) for run in found["peer"]]))
        if clients == 8:
            plots["first-text"] = distribution({name: sum((run["first_us"] for run in found[name]), []) for name in ("model", "frontdesk", "peer")})
    notes.append(
        "Figures 2 and 3: the model sends 64 pieces without a pause, each in a packet, and shares a core with the clients. What it needs "
        "is in every candidate's time; with 8 and 64 clients it limits all of them."
    )
    return Result(figures, notes, plots)


# A turn of each part of the telecom desk, next to one of the retail desk.
PARTS = {
    "retail": ("system_persona_en", QUESTION),
    "technical": ("telecom_en", "What does a red PON light mean?"),
    "billing": ("telecom_en", "What is the refund policy?"),
}
CHATS = 200


def desks(programs):
    """Figure 11, without a model."""
    server = programs.frontdesk("desks")
    found = interleave({
        name: lambda persona=persona, text=text: programs.load(server.address, turns=300, persona=persona, text=text)
        for name, (persona, text) in PARTS.items()
    })
    figures = [
        Figure("11", f"first text, {name}, p{percent}", [percentile(run["first_us"], percent) / 1000 for run in runs], " ms")
        for name, runs in found.items()
        for percent in (50, 99)
    ]
    chats = interleave({"chat": lambda: whole_turn(server, True), "stream": lambda: whole_turn(server, False)})
    figures += [
        Figure("11", "turn by POST /chat, p50", chats["chat"], " ms"),
        Figure("11", "turn by POST …/stream, p50", chats["stream"], " ms"),
        Figure("11", "/chat ÷ /stream", ratios(chats["chat"], chats["stream"])),
    ]
    return Result(figures)


def whole_turn(server, is_chat):
    """The median milliseconds of a technical turn, a connection each, in one conversation."""
    client, (persona, text) = Client(server.port), PARTS["technical"]
    _, opened = client.call("POST", "/conversations", {"persona": persona})
    session = f"bench-{opened['id']}"
    spent = []
    for _ in range(CHATS):
        began = time.perf_counter()
        if is_chat:
            status, answer = client.call("POST", "/chat", {"session_id": session, "message": text, "persona": persona})
            is_whole = status == 200 and bool(answer["reply"])
        else:
            events = list(client.events("POST", f"/conversations/{opened['id']}/stream", {"text": text}))
            is_whole = '"turn.done"' in events[-1][1]
        spent.append((time.perf_counter() - began) * 1000)
        if not is_whole:
            raise RuntimeError("the turn has no reply")
    return median(spent)


def distribution(micros):
    def draw(axes):
        for name, values in micros.items():
            shown = sorted(values)
            axes.plot([value / 1000 for value in shown], [(at + 1) / len(shown) for at in range(len(shown))], label=name)
        axes.set(xlabel="milliseconds to the first text, 8 clients", ylabel="share of the turns", xscale="log")
        axes.legend()

    return draw


def size(programs):
    """Figure 9."""
    filled = programs.frontdesk("filled")
    programs.load(filled.address, turns=10, **ASKED)
    server_database = filled.folder / "database"
    rates, starts = {}, {}
    stop(filled)
    for turns in (10, 1_000, 100_000):
        folder = programs.folder / f"of-{turns}"
        shutil.copytree(server_database, folder)
        stored = programs.run("fill", "--database", folder / "frontdesk.db", "--turns", turns)
        rates[turns] = programs.frontdesk(f"size-{turns}", database=folder)
        starts[turns] = folder, stored["bytes"]
    found = interleave({
        turns: lambda server=server: rate(programs.load(server.address, clients=CLIENTS, turns=TURNS // 2, **ASKED))
        for turns, server in rates.items()
    })
    for server in rates.values():
        stop(server)
    largest, bytes_ = starts[100_000]
    opened = interleave({
        "empty": lambda: start_to_answer(programs, starts[10][0]),
        "full": lambda: start_to_answer(programs, largest),
    })
    return Result([
        Figure("9", "start to the first answer, 10 turns stored", opened["empty"], " ms"),
        at_most("9", f"… with {bytes_ / 1e9:.2f} GB ÷ with 10 turns", ratios(opened["full"], opened["empty"]), 1.1),
        at_least("9", "warranty turns a second with 1,000 stored turns ÷ with 10", ratios(found[1_000], found[10]), 0.9),
        at_least("9", "… with 100,000 ÷ with 10", ratios(found[100_000], found[10]), 0.9),
    ])


def stop(server):
    server.process.terminate()
    server.process.wait()
    server.process = None


def start_to_answer(programs, database):
    """Milliseconds from the start of the program to the first text of a turn."""
    server = programs.frontdesk(f"start-{len(programs.children)}", database=database)
    run = programs.load(server.address, turns=1, warm_up=0, **ASKED)
    stop(server)
    shutil.rmtree(server.folder)
    return server.started_ms + run["first_us"][0] / 1000


def overload(programs):
    """Figure 10."""
    server = programs.frontdesk("overload", TURNS_WAITING_TOTAL="200")

    def at_twice_the_capacity():
        capacity = rate(programs.load(server.address, clients=64, turns=2 * TURNS, **ASKED))
        return capacity, programs.load(server.address, clients=8000, rate=2 * capacity, seconds=3, **ASKED)

    runs = interleave({"overload": at_twice_the_capacity})["overload"]
    capacity, accepted, slowest, refusals, refused = [capacity for capacity, _ in runs], [], [], [], []
    for _, offered in runs:
        accepted.append(rate(offered))
        slowest.append(percentile(offered["total_us"], 99) / 1000)
        refused.append(len(offered["refused_us"]) / (offered["turns"] + len(offered["refused_us"])))
        refusals.append(percentile(offered["refused_us"] or [0], 99) / 1000)
    return Result([
        Figure("10", "capacity, 64 clients", capacity, " turns/s"),
        at_least("10", "turns answered at twice the capacity ÷ capacity", ratios(accepted, capacity), 0.9),
        Figure("10", "share that is refused", refused),
        Figure("10", "accepted turns, p99", slowest, " ms"),
        Figure("10", "time to refuse, p99", refusals, " ms"),
    ])
