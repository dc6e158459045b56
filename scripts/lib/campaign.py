"""Clients that live through crashes, and the checks of what they saw."""
import json
import threading
import time
from collections import Counter, defaultdict

from client import LOST, Client, place

# How long something may take that the server owes, on a busy machine.
PATIENCE = 300


class Violations:
    def __init__(self):
        self.found = []
        self.lock = threading.Lock()

    def add(self, text):
        with self.lock:
            self.found.append(text)
            if len(self.found) <= 30:
                print(f"VIOLATION: {text}", flush=True)


class Figures:
    """Counts from many threads."""

    def __init__(self):
        self.counts = Counter()
        self.lock = threading.Lock()

    def add(self, name, count=1):
        with self.lock:
            self.counts[name] += count

    def most(self, name, value):
        with self.lock:
            self.counts[name] = max(self.counts[name], value)


class Conversation:
    """One conversation, and all that clients know of it."""

    def __init__(self, world, id_):
        self.world, self.id, self.path = world, id_, f"/conversations/{id_}"
        self.lock = threading.Lock()
        # Key -> (text, message id, turn); the ids are None while no answer has come.
        self.posted = {}
        # Event id -> its JSON, as any reader saw it.
        self.seen = {}

    def saw(self, id_, data, who):
        with self.lock:
            if self.seen.setdefault(id_, data) != data:
                self.world.violations.add(f"{who}: event {id_} of {self.id} says two things")

    def acknowledged(self, key, message_id, turn):
        with self.lock:
            text, old, old_turn = self.posted[key]
            if old is not None and (old, old_turn) != (message_id, turn):
                self.world.violations.add(f"key {key}: message {old} (turn {old_turn}), then {message_id} (turn {turn})")
            if any(other != key and known[1] == message_id for other, known in self.posted.items()):
                self.world.violations.add(f"key {key}: its message {message_id} is another key's")
            self.posted[key] = (text, message_id, turn)

    def now(self):
        """A copy of what is known."""
        with self.lock:
            return dict(self.posted), dict(self.seen)


class World:
    """What all clients share."""

    def __init__(self, server, outages):
        self.client, self.server, self.outages = Client(server.port), server, outages
        self.violations, self.figures = Violations(), Figures()
        self.over = threading.Event()

    def insist(self, method, path, body=None, headers=None):
        """Asks until there is an answer that is not 429 or 503.

        A machine that is busy with something else may need longer than the server waits for its store, without any outage.
        The server then says when to ask again.
        """
        end = time.monotonic() + PATIENCE
        while not self.over.is_set():
            try:
                status, answer = self.client.call(method, path, body, headers)
            except LOST:
                self.figures.add("requests without an answer")
            else:
                if status == 503:
                    self.figures.add("honest 503")
                    if answer.get("code") != "unavailable" or not answer["retry_after"]:
                        self.violations.add(f"{method} {path}: 503 {answer}")
                    # During an outage, clients do not wait that long.
                    self.over.wait(0 if self.outages else answer["retry_after"])
                elif status != 429:
                    return status, answer
            if time.monotonic() > end:
                raise RuntimeError(f"{method} {path}: no answer in {PATIENCE} s\n{self.server.tail()}")
            time.sleep(0.05)
        raise Over

    def wait_ready(self):
        """Waits until /readyz says that the store takes writes again."""
        end = time.monotonic() + PATIENCE
        while (answer := self.client.call("GET", "/readyz"))[0] != 200:
            if time.monotonic() > end:
                self.violations.add(f"GET /readyz: {answer} for {PATIENCE} s after the store is back")
                return
            time.sleep(0.1)

    def wait_down(self, outage):
        """Waits until /readyz says that the store takes no writes, and why."""
        end = time.monotonic() + PATIENCE
        answer = None
        while time.monotonic() < end:
            try:
                status, answer = self.client.call("GET", "/readyz")
                if status == 503 and answer.get("store_outage") == outage:
                    return
            except LOST:
                pass
            time.sleep(0.1)
        self.violations.add(f"GET /readyz: {answer} for {PATIENCE} s of an outage ({outage})")

    def history(self, conversation):
        """Every message, over all pages."""
        messages, after = [], ""
        while True:
            path = f"{conversation.path}/history?limit=200{after}"
            status, page = self.insist("GET", path)
            if status != 200:
                raise RuntimeError(f"GET {path}: {status}")
            messages += page["messages"]
            if page["next"] is None:
                return messages
            after = f"&after={page['next']}"

    def open(self, persona=None, **more):
        status, answer = self.insist("POST", "/conversations", ({"persona": persona} if persona else {}) | more)
        if status != 201:
            raise RuntimeError(f"POST /conversations: {status} {answer}")
        return Conversation(self, answer["id"])


class Over(Exception):
    """The campaign has ended."""


class Poster(threading.Thread):
    """A customer who writes, and writes the same again when no answer comes."""

    def __init__(self, world, conversation, posts):
        super().__init__(daemon=True)
        self.world, self.conversation, self.posts = world, conversation, posts
        self.enough = threading.Event()

    def run(self):
        try:
            for post in self.posts:
                if self.enough.wait(post.pause):
                    return
                self.post(post)
        except Over:
            pass
        except Exception as error:
            self.world.violations.add(f"a customer gave up: {error}")

    def post(self, post):
        conversation = self.conversation
        with conversation.lock:
            conversation.posted[post.key] = (post.text, None, None)
        if post.person:
            return self.answer(post)
        if post.stream is not None:
            self.stream(post)
        turn = self.send(post)
        if post.cancel is not None:
            time.sleep(post.cancel)
            try:
                status, _ = self.world.client.call("POST", f"{conversation.path}/turns/{turn}/cancel", {})
                if status not in (202, 409, 503):
                    self.world.violations.add(f"cancel of turn {turn} of {conversation.id}: {status}")
            except LOST:
                pass
        if post.twice:
            self.send(post)

    def answer(self, post):
        console = f"/console/api{self.conversation.path}"
        self.hand(f"{console}/take", "taken")
        for _ in range(1 + post.twice):
            self.send(post, f"{console}/answers")
        self.hand(f"{console}/give-back", "bot")
        self.world.figures.add("answers of a person")

    def hand(self, path, status):
        code, answer = self.world.insist("POST", path, {})
        if code != 200 or answer["conversation"]["status"] != status:
            raise RuntimeError(f"POST {path}: {code} {answer}")

    def send(self, post, path=None):
        return send(self.world, self.conversation, post.key, post.text, path)

    def stream(self, post):
        """Reads the turn's own stream for a while. What it does not say, /messages with the same key will."""
        events = self.world.client.events(
            "POST", f"{self.conversation.path}/stream", {"text": post.text}, {"idempotency-key": post.key}, timeout=5
        )
        last = 0
        try:
            if next(events) != 200:
                return
            for id_, data in events:
                if id_ is None:
                    continue
                turn, n = place(id_)
                event = json.loads(data)
                if n != last + 1:
                    self.world.violations.add(f"POST …/stream of {self.conversation.id}: {turn}.{last}, then {id_}")
                if event["type"] == "turn.start":
                    self.conversation.acknowledged(post.key, event["message_id"], turn)
                last = n
                self.conversation.saw(id_, data, "POST …/stream")
                self.world.figures.add("events")
                if n >= post.stream:
                    return
        except LOST:
            pass
        finally:
            events.close()


def send(world, conversation, key, text, path=None):
    """Posts until there is an answer; the number of the turn."""
    path = path or f"{conversation.path}/messages"
    status, answer = world.insist("POST", path, {"text": text}, {"idempotency-key": key})
    if status != 202:
        raise RuntimeError(f"message {key}: {status} {answer}")
    conversation.acknowledged(key, answer["message_id"], answer["turn"])
    return answer["turn"]


class Reader(threading.Thread):
    """A page that reads `GET …/events`, loses its connection, and resumes after its last event id."""

    def __init__(self, world, conversation, visits, number):
        super().__init__(daemon=True)
        self.world, self.conversation, self.visits = world, conversation, visits
        self.who = f"reader {number} of {conversation.id}"
        self.last, self.ended_turn = (0, 0), True
        # The last turn there will be, once that is known: the reader ends with it.
        self.last_turn = None

    def run(self):
        visits = 0
        while not self.world.over.is_set() and not self.is_through():
            visit = self.visits[visits % len(self.visits)]
            visits += 1
            time.sleep(visit.pause)
            try:
                self.visit(visit)
            except LOST:
                time.sleep(0.02)
            except Exception as error:
                self.world.violations.add(f"{self.who}: {error!r}")
                return

    def is_through(self):
        last = self.last_turn
        return last is not None and self.last[0] >= last and self.ended_turn

    def visit(self, visit):
        last = "%d.%d" % self.last
        path, headers = f"{self.conversation.path}/events", {"last-event-id": last}
        if visit.in_query:
            path, headers = f"{path}?last_event_id={last}", {}
        events = self.world.client.events("GET", path, headers=headers, timeout=visit.silence)
        try:
            status = next(events)
            if status == 503:
                self.world.figures.add("honest 503")
                time.sleep(0.1)
                return
            if status != 200:
                self.world.violations.add(f"{self.who}: GET …/events from {last}: {status}")
                return time.sleep(0.2)
            self.world.figures.add("connections")
            count = 0
            for id_, data in events:
                if id_ is None and '"debug"' in data:
                    continue
                self.take(id_, data)
                count += 1
                if count >= visit.events or self.is_through():
                    return
        finally:
            events.close()

    def take(self, id_, data):
        event = json.loads(data)
        if id_ is None or event["type"] == "reset":
            self.world.violations.add(f"{self.who}: {event['type']} {id_} after %d.%d" % self.last)
            return
        turn, n = place(id_)
        expected = (self.last[0] + 1, 1) if self.ended_turn else (self.last[0], self.last[1] + 1)
        if (turn, n) != expected:
            self.world.violations.add(f"{self.who}: {id_}, expected %d.%d" % expected)
        self.last, self.ended_turn = (turn, n), event["type"] == "turn.done"
        self.conversation.saw(id_, data, self.who)
        self.world.figures.add("events")


def read_afresh(world, conversation, until):
    """Reads events from 0.0 until `until(turn, n, event)` is true. Returns the events by id, in order."""
    events, last, done = {}, "0.0", False
    end = time.monotonic() + PATIENCE
    while not done:
        if time.monotonic() > end:
            raise RuntimeError(f"reading {conversation.id} again is stuck at {last} for {PATIENCE} s\n{world.server.tail()}")
        reading = world.client.events("GET", f"{conversation.path}/events?last_event_id={last}", timeout=20)
        try:
            if next(reading) != 200:
                time.sleep(0.1)
                continue
            for id_, data in reading:
                if id_ is None:
                    continue
                event = json.loads(data)
                events[id_] = (data, event)
                last = id_
                if done := until(*place(id_), event):
                    break
        except LOST:
            time.sleep(0.05)
        finally:
            reading.close()
    return events


def check(world, conversation, whole):
    """Compares what clients know with a fresh reading and the history. `whole`: all turns must have ended."""
    posted, seen = conversation.now()
    said = world.violations.add
    name = conversation.id
    if whole:
        turns = len(posted)
        if not turns:
            return {}
        fresh = read_afresh(world, conversation, lambda turn, _, event: turn >= turns and event["type"] == "turn.done")
    else:
        if not seen:
            fresh = {}
        else:
            # All that was seen, and the end of the turn that was cut off.
            top = max(map(place, seen))
            fresh = read_afresh(
                world, conversation, lambda turn, n, event: (turn, n) >= top and event["type"] == "turn.done"
            )
    # Read after the events: a message is stored with its message.end.
    history = world.history(conversation)

    expected = (1, 1)
    for id_, (_, event) in fresh.items():
        if event["type"] == "reset":
            return said(f"{name}: a fresh reading got a reset")
        turn, n = place(id_)
        if (turn, n) != expected:
            said(f"{name}: a fresh reading shows {id_}, expected %d.%d" % expected)
        expected = (turn + 1, 1) if event["type"] == "turn.done" else (turn, n + 1)
    for id_, data in seen.items():
        if id_ not in fresh:
            said(f"{name}: event {id_} was seen and is gone")
        elif fresh[id_][0] != data:
            said(f"{name}: event {id_} was seen with other words")

    # By customers, and by people of the shop.
    written = Counter(message["id"] for message in history if message["sender"] != "assistant")
    by_id = {message["id"]: message for message in history}
    for key, (text, message_id, turn) in posted.items():
        if message_id is None:
            if whole:
                said(f"{name}: message {key} was never answered")
        elif written[message_id] != 1:
            said(f"{name}: message {key} was acknowledged and is stored {written[message_id]} times")
        elif (by_id[message_id]["text"], by_id[message_id]["turn"]) != (text, turn):
            said(f"{name}: message {key} is stored with other words, or in another turn")
    if whole and sum(written.values()) != len(posted):
        said(f"{name}: {sum(written.values())} messages are stored for {len(posted)} keys")
    if len(by_id) != len(history):
        said(f"{name}: the history shows a message twice")
    check_texts(name, fresh, by_id, history if whole else (), said)
    return fresh


def check_texts(name, fresh, by_id, history, said):
    texts, ends, open_ = defaultdict(str), {}, None
    for id_, (_, event) in fresh.items():
        kind = event["type"]
        if kind == "message.start":
            open_ = event["message_id"]
        elif kind == "delta":
            if event["message_id"] != open_ or not event["text"]:
                said(f"{name}: delta {id_} belongs to no open message, or is empty")
            texts[event["message_id"]] += event["text"]
        elif kind == "message.end":
            ends[event["message_id"]] = event
            open_ = None
        elif kind == "turn.done" and open_ is not None:
            said(f"{name}: {id_} ends a turn whose message has no end")
    for message_id, end in ends.items():
        message = by_id.get(message_id)
        if message is None:
            said(f"{name}: message {message_id} ended and is not in the history")
        elif message["text"] != texts[message_id] or bool(message["metadata"].get("cut")) != bool(end["metadata"].get("cut")):
            said(f"{name}: message {message_id} differs from its deltas or its cut flag")
    for message in history:
        if message["sender"] != "user" and message["turn"] > 0 and message["id"] not in ends:
            said(f"{name}: message {message['id']} is in the history and had no events")


def check_keys(world, conversation, most):
    """Posts some acknowledged messages again: the same key gives the same message."""
    posted, _ = conversation.now()
    # Nobody posts a decision.
    known = [(key, value) for key, value in posted.items() if value[1] is not None and not key.startswith("decision:")]
    for key, (text, _, _) in known[-most:]:
        status, answer = world.insist("POST", f"{conversation.path}/messages", {"text": text}, {"idempotency-key": key})
        if status == 202:
            conversation.acknowledged(key, answer["message_id"], answer["turn"])
        else:
            world.violations.add(f"{conversation.id}: key {key} repeated: {status}")


def check_ends(world, conversation, fresh):
    """Compares each turn's page with its turn.done."""
    for id_, (_, event) in fresh.items():
        if event["type"] != "turn.done":
            continue
        turn = place(id_)[0]
        world.figures.add("turns")
        world.figures.add(event["status"])
        status, record = world.insist("GET", f"{conversation.path}/turns/{turn}")
        if status != 200 or record["status"] != event["status"]:
            world.violations.add(f"{conversation.id}: turn {turn} is {record.get('status')}, its turn.done said {event['status']}")
