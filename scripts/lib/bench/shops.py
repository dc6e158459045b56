"""What many shops cost in one server: signed webhooks at a rate, and searches in large catalogues."""
import base64
import hashlib
import hmac
import http.client
import json
import threading
import time
import urllib.parse
import uuid

from stand_in import Handler, StandIn

from .programs import CLIENT_CORE, SERVER_CORE, on_core
from .rounds import Figure, Result, at_most, percentile

RATE, SECONDS, SENDERS = 200, 20, 16
ACCOUNT, TOKEN, NUMBER = "AC00000000000000000000000000000001", "12345", "+254700000009"
PUBLIC_URL, PATH = "https://shop.example", "/webhooks/twilio"
SETTINGS = {"TENANT_SECRET_KEY": "a-key-of-the-bench-0123456789-abcdef", "PUBLIC_URL": PUBLIC_URL}

SHOPS, ITEMS, SEARCHES = 50, 10_000, 400
KINDS = ["shoes", "boots", "sandals", "bag", "socks", "hat", "belt", "jacket", "shirt", "scarf"]
NAMES = ["canvas", "running", "leather", "school", "garden", "evening", "football", "travel", "cotton", "woollen"]
QUERIES = ["leather boots brown", "canvas shoes size 41", "cheap bag", "woolen scarf red", "football sandals under 3000", "jacket"]


def webhooks(programs):
    """Figure 12."""
    with on_core(CLIENT_CORE):
        twilio = StandIn(TwilioHandler)
    try:
        server = programs.frontdesk("webhooks", **SETTINGS, TWILIO_URL=twilio.url)
        server.run("seed", "commerce")
        credentials = f'twilio_account_sid = "{ACCOUNT}"\ntwilio_auth_token = "{TOKEN}"\n'
        options = ["--whatsapp-number", NUMBER, "--whatsapp-persona", "commerce_en", "--credentials", "-"]
        server.run("tenant", "set", "savanna", *options, input=credentials)
        send_at(server, RATE, 2)
        took = send_at(server, RATE, SECONDS)
    finally:
        twilio.close()
    figures = [Figure("12", f"signed webhooks, {RATE} a second, p{percent}", [percentile(took, percent)], " ms") for percent in (50, 99)]
    note = f"Figure 12: {RATE * SECONDS} messages of as many customers, each stored, answered and handed to a stand-in for Twilio."
    return Result(figures, [note])


def send_at(server, rate, seconds):
    """Sends signed messages at a rate, each of another customer. Returns how long each took from when it was due, in milliseconds."""
    due, took, lock = iter(range(rate * seconds)), [], threading.Lock()
    began = time.perf_counter() + 0.1

    def sender():
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        while True:
            with lock:
                number = next(due, None)
            if number is None:
                return connection.close()
            at = began + number / rate
            time.sleep(max(0, at - time.perf_counter()))
            fields = {
                "AccountSid": ACCOUNT, "MessageSid": f"SM{uuid.uuid4().hex}", "From": f"whatsapp:+2547{int(began) % 1000:03}{number:05}",
                "To": f"whatsapp:{NUMBER}", "Body": "canvas shoes size 41 black", "NumMedia": "0",
            }
            signed = PUBLIC_URL + PATH + "".join(f"{name}{fields[name]}" for name in sorted(fields))
            signature = base64.b64encode(hmac.new(TOKEN.encode(), signed.encode(), hashlib.sha1).digest()).decode()
            headers = {"content-type": "application/x-www-form-urlencoded", "x-twilio-signature": signature}
            connection.request("POST", PATH, urllib.parse.urlencode(fields), headers)
            response = connection.getresponse()
            body = response.read()
            if response.status != 200:
                raise RuntimeError(f"the webhook answered {response.status}: {body.decode()}")
            with lock:
                took.append((time.perf_counter() - at) * 1000)

    with on_core(CLIENT_CORE):
        senders = [threading.Thread(target=sender) for _ in range(SENDERS)]
        for thread in senders:
            thread.start()
    for thread in senders:
        thread.join()
    if len(took) != rate * seconds:
        raise RuntimeError(f"only {len(took)} of {rate * seconds} webhooks were answered")
    return took


class TwilioHandler(Handler):
    """Takes every message."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.answer({"sid": f"SM{uuid.uuid4().hex}", "status": "queued"}, 201)


def catalogs(programs):
    """Figure 13."""
    names = [f"shop-{number}" for number in range(SHOPS)]
    keys = {name: f"key-of-{name}-0123456789" for name in names}
    server = programs.frontdesk("catalogs", X_API_KEYS=",".join(f"{name}:{key}" for name, key in keys.items()))
    for number, name in enumerate(names):
        server.run("tenant", "add", name, "--name", f"Shop {number}")
        path = write_goods(programs.folder / "goods.csv", number)
        server.run("import", "catalog", "--tenant", name, "--file", path)
    server.kill()
    with on_core(SERVER_CORE):
        server.start()
    server.wait_ready()
    # What is read once for all shops is not counted.
    search(server, keys[names[0]], 60)
    first = server.resident()
    for name in names:
        search(server, keys[name], 6)
    memory = (server.resident() - first) / (SHOPS - 1)
    took = [ms for at in range(SEARCHES // 10) for ms in search(server, keys[names[at % SHOPS]], 10)]
    return Result([
        *(Figure("13", f"a turn with a search in {ITEMS:,} items of {SHOPS} shops, p{percent}", [percentile(took, percent)], " ms") for percent in (50, 99)),
        at_most("13", "memory of each further shop", [memory], 1024, " KiB"),
    ], [f"Figure 13: {len(took)} turns, one after another, each a search of another customer. Memory: resident, between a server that served one shop and {SHOPS}."])


def write_goods(path, shop):
    with open(path, "w", encoding="utf-8") as out:
        out.write("item_id,name,category,price,stock,description,attributes,variants,url\n")
        for number in range(ITEMS):
            kind, name = KINDS[number % 10], NAMES[number // 10 % 10]
            out.write(f"I-{number},{name.title()} {kind} {number},{kind.title()},{100 + number % 7000},{1 + number % 40},"
                      f"Model {number} of shop {shop},brand: B{number % 90}; material: {name},size: 40 | 41 | 42; colour: black | brown | red,\n")
    return path


def search(server, key, count):
    """Plays turns with searches, each of a new customer. Returns how long each took, in milliseconds."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    headers = {"content-type": "application/json", "x-api-key": key}

    def post(path, body):
        connection.request("POST", path, json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, response.read()

    took = []
    with on_core(CLIENT_CORE):
        for at in range(count):
            status, body = post("/conversations", {"persona": "commerce_en", "user_id": f"+2547{time.time_ns() % 100_000_000:08}"})
            if status != 201:
                raise RuntimeError(f"the conversation was answered with {status}: {body}")
            began = time.perf_counter()
            _, events = post(f"/conversations/{json.loads(body)['id']}/stream", {"text": QUERIES[at % len(QUERIES)]})
            took.append((time.perf_counter() - began) * 1000)
            if b'"completed"' not in events or b"KSh" not in events:
                raise RuntimeError(f"the search failed: {events.decode()}")
    connection.close()
    return took
