"""What a reader costs: events relayed, memory of idle ones, and the delay that a slow one causes."""
import resource
import selectors
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from statistics import linear_regression

from child import KEY
from client import Client, place

from .programs import QUESTION
from .rounds import ROUNDS, Figure, Result, at_least, at_most, counted, interleave, note_control, percentile, ratios

# jemalloc returns unused memory within this time.
DECAY_SECONDS = 10

# How long nothing at all may come, on a busy machine.
PATIENCE = 60


def relayed(programs):
    """Figure 4."""
    pieces = 1000
    model = programs.model(pieces=pieces)
    relay, server = programs.relay(model), programs.frontdesk("relayed", model)
    figures, notes = [], []
    for streams, turns in ((1, 50), (100, 150)):
        of = {"clients": streams, "turns": turns, "warm_up": 1, "text": QUESTION}
        found = interleave({
            "frontdesk": lambda: events_a_second(programs.load(server.address, **of)),
            "relay": lambda: events_a_second(programs.load(relay, model=True, **of)),
            "frontdesk again": lambda: events_a_second(programs.load(server.address, **of)),
        })
        note_control(notes, f"relayed events, {counted(streams, 'stream')}", found["frontdesk"], found["frontdesk again"])
        figures += [
            Figure("4", f"events a second, {counted(streams, 'stream')} of {pieces:,} pieces", found["frontdesk"]),
            Figure("4", "… lines a second through a bare relay", found["relay"]),
            at_least("4", "events ÷ lines of the relay", ratios(found["frontdesk"], found["relay"]), 0.5),
        ]
    return Result(figures, notes)


def events_a_second(run):
    return run["events"] / run["seconds"]


def idle(programs):
    """Figure 5."""
    steps, each = range(0, 5001, 1000), 1000
    limit = steps[-1] + 500
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < limit:
        raise RuntimeError(f"only {hard} files may be open: raise the limit (ulimit -n) to {limit}")
    server = programs.frontdesk("readers", STREAMS_PER_KEY="10000")
    client = Client(server.port)
    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda _: client.call("POST", "/conversations", {}), range(steps[-1]))
        conversations = [answer["id"] for _, answer in answers]
    # The first streams pay for what all share.
    for stream in [open_stream(server.port, id_) for id_ in conversations[:50]]:
        stream.close()
    time.sleep(DECAY_SECONDS)
    streams = []

    def wave():
        """Returns the memory with each number of readers, and after all have left."""
        memory = []
        for count in steps:
            while len(streams) < count:
                streams.append(open_stream(server.port, conversations[len(streams)]))
            memory.append(settled(server))
        while streams:
            streams.pop().close()
        time.sleep(DECAY_SECONDS)
        return memory, settled(server)

    (first, _), (memory, left) = wave(), wave()
    slope, first_slope = (linear_regression(list(steps), of).slope for of in (memory, first))
    remains = max(0.0, left - memory[0]) / (memory[-1] - memory[0])
    first_remains = max(0.0, memory[0] - first[0]) / (first[-1] - first[0])

    def draw(axes):
        axes.plot(list(steps), [kib / 1024 for kib in memory], marker="o", label="readers come, the second time")
        axes.plot([0], [left / 1024], marker="x", linestyle="", label="all have left")
        axes.set(xlabel="idle readers", ylabel="resident memory, MiB", ylim=(0, None))
        axes.legend()

    return Result(
        [
            at_most("5", f"memory of an idle reader, slope from 0 to {steps[-1]:,}", [slope], 10, " KiB"),
            at_most("5", "… that remains after they left", [remains * 100], 5, " %"),
            Figure("5", "… of the first ones after the start, slope", [first_slope], " KiB"),
            Figure("5", "… of the first ones, that remains", [first_remains * 100], " %"),
        ],
        notes=[
            f"Figure 5: {steps[-1]:,} readers come and leave twice. The first ones also pay for what stays and serves the next ones. What "
            f"remains is read at least {DECAY_SECONDS} seconds after they left."
        ],
        plots={"readers": draw},
    )


def open_stream(port, conversation):
    """A connection that has read the first frame."""
    stream = socket.create_connection(("127.0.0.1", port), timeout=30)
    stream.sendall(f"GET /conversations/{conversation}/events HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: {KEY}\r\n\r\n".encode())
    got = b""
    while b"stream-open" not in got:
        part = stream.recv(4096)
        if not part:
            raise RuntimeError(f"the stream ended:\n{got.decode()}")
        got += part
    return stream


def settled(server):
    """Resident memory in KiB, once it has stood still for two seconds."""
    last, still = server.resident(), 0
    for _ in range(60):
        time.sleep(0.5)
        now = server.resident()
        still = still + 1 if abs(now - last) < 64 else 0
        last = now
        if still >= 4:
            break
    return last


def slow_reader(programs):
    """Figure 6."""
    readers = 50
    model = programs.model(pieces=300, pause=10_000)
    # Otherwise, the server would close the slow reader's connection.
    server = programs.frontdesk("slow", model, STREAMS_PER_CONVERSATION=str(readers + 1), SSE_STALL_SECONDS="0")
    found = interleave({
        "without": lambda: gap(server, readers, has_slow=False),
        "with": lambda: gap(server, readers, has_slow=True),
    }, ROUNDS)
    return Result([
        Figure("6", f"gap between events of {readers} readers, p99", [seconds * 1000 for seconds in found["without"]], " ms"),
        at_most("6", "… with a stalled reader ÷ without", ratios(found["with"], found["without"]), 1.05),
    ])


def gap(server, count, has_slow):
    """The 99th percentile of the seconds between two events of a turn, at `count` readers."""
    client = Client(server.port)
    _, answer = client.call("POST", "/conversations", {})
    path = f"/conversations/{answer['id']}"
    fast = [Reader(server.port, path, f"reader {n}") for n in range(count)]
    slow = [Reader(server.port, path, "the slow reader", thin=True)] if has_slow else []
    status, answer = client.call("POST", f"{path}/messages", {"text": QUESTION})
    if status != 202:
        raise RuntimeError(f"POST {path}/messages: {status} {answer}")
    read_all(fast)
    # It has read nothing so far, and gets the whole turn now.
    read_all(slow)
    for reader in fast + slow:
        reader.socket.close()
        reader.check(fast[0])
    gaps = [later - sooner for reader in fast for (*_, sooner), (*_, later) in pairwise(reader.events)]
    return percentile(gaps, 99)


class Reader:
    """A connection that has read the first frame of `GET …/events`."""

    def __init__(self, port, path, who, thin=False):
        self.who, self.rest = who, b""
        # (id, data, when) of each event.
        self.events = []
        self.socket = socket.socket()
        if thin:
            # Before it connects: what the server's end sets aside for the connection follows from these.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", port))
        # 1.0: a body without chunks.
        self.socket.sendall(f"GET {path}/events HTTP/1.0\r\nhost: 127.0.0.1\r\nx-api-key: {KEY}\r\n\r\n".encode())
        while b"stream-open" not in self.rest or not self.rest.endswith(b"\n\n"):
            self.receive(1)
        self.rest = b""

    def take(self):
        """Receives, and notes the events that are whole now."""
        self.receive(65536)
        now = time.perf_counter()
        *blocks, self.rest = self.rest.split(b"\n\n")
        for block in blocks:
            fields = dict(line.split(b": ", 1) for line in block.split(b"\n") if not line.startswith(b":"))
            if fields:
                self.events.append((place(fields[b"id"].decode()), fields[b"data"], now))

    def receive(self, size):
        part = self.socket.recv(size)
        if not part:
            raise RuntimeError(f"the stream of {self.who} ended:\n{self.rest.decode(errors='replace')}")
        self.rest += part

    def is_through(self):
        return bool(self.events) and self.events[-1][1].startswith(b'{"type":"turn.done"')

    def check(self, other):
        """Refuses a round in which it missed an event or got one twice."""
        ids = [id_ for id_, *_ in self.events]
        if ids != [(1, n) for n in range(1, len(ids) + 1)] or [event[:2] for event in self.events] != [event[:2] for event in other.events]:
            raise RuntimeError(f"{self.who} saw other events than {other.who}: {ids[:5]} … {ids[-5:]}, {len(ids)} in all")


def read_all(readers):
    """Reads until all are through."""
    with selectors.DefaultSelector() as selector:
        for reader in readers:
            selector.register(reader.socket, selectors.EVENT_READ, reader)
        while selector.get_map():
            ready = selector.select(PATIENCE)
            if not ready:
                raise RuntimeError(f"nothing came for {PATIENCE} s")
            for key, _ in ready:
                key.data.take()
                if key.data.is_through():
                    selector.unregister(key.fileobj)
