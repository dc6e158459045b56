"""Twilio's API for tests: takes messages, reports what became of them, and signs each webhook."""
import base64
import hashlib
import hmac
import http.client
import random
import threading
import time
import urllib.error
import urllib.request
from datetime import datetime, timezone
from email.utils import format_datetime
from urllib.parse import parse_qsl, urlencode, urlsplit

from stand_in import Handler, StandIn

# How long a webhook is repeated until the server accepts it.
PATIENCE = 300
ACCOUNT, TOKEN, NUMBER = "AC-crash", "token-of-the-crash-test", "+254200000000"
MESSAGES = f"/2010-04-01/Accounts/{ACCOUNT}/Messages.json"
# In UTF-16 units.
BODY_MAX = 1600
# Makes Twilio repeat a callback. Twilio neither sends nor signs it.
RETRIES = "#rc=3&rp=all"
# What becomes of a message: it is stored and answered, stored without an answer, or neither.
FATES = {"answered": 0.8, "lost": 0.13, "dropped": 0.07}


class ScriptedTwilio(StandIn):
    """Some answers are lost, and some messages."""

    def __init__(self, seed):
        self.chance, self.lock = random.Random(f"{seed}/twilio"), threading.Lock()
        # Receiver -> its messages, oldest first.
        self.sent = {}
        # Requests and answers of the server that are wrong.
        self.problems = []
        self.count = self.lost = self.lookups = 0
        super().__init__(_Handler)

    def bodies(self, phone):
        return [message["body"] for message in self.sent.get(f"whatsapp:{phone}", [])]

    def take(self, fields):
        """Stores a message, unless it is dropped. Returns it, or `None` if its answer is lost."""
        with self.lock:
            self.count += 1
            [fate] = self.chance.choices(list(FATES), FATES.values())
            # Some reports are late.
            waits = [self.chance.choice((0.2, 0.2, 0.2, 2.5)) * self.chance.random() for _ in range(2)]
            now = format_datetime(datetime.now(timezone.utc))
            message = {"sid": f"SM{self.count:032}", "status": "queued", "error_code": None, "date_created": now}
            message |= {name.lower(): fields[name] for name in ("To", "From", "Body")}
            self.lost += fate != "answered"
            if fate != "dropped":
                self.sent.setdefault(message["to"], []).append(message)
                callback = fields["StatusCallback"].removesuffix(RETRIES)
                threading.Thread(target=self.report, args=(callback, message, waits), daemon=True).start()
        return message if fate == "answered" else None

    def pause(self):
        """Lets an answer take its time, in which a report may arrive or the server be killed."""
        with self.lock:
            wait = self.chance.uniform(0, 0.3)
        time.sleep(wait)

    def report(self, callback, message, waits):
        for status, wait in zip(("sent", "delivered"), waits):
            time.sleep(wait)
            message["status"] = status
            fields = {"AccountSid": ACCOUNT, "From": message["from"], "MessageSid": message["sid"], "MessageStatus": status, "To": message["to"]}
            self.post(callback, fields)

    def post(self, url, fields):
        """Posts a webhook until the server accepts it."""
        end = time.monotonic() + PATIENCE
        while (status := attempt(url, fields)) != 200:
            # 503: the server's store is too slow, or away.
            if status not in (None, 503) or time.monotonic() > end:
                return self.problems.append(f"the webhook of {fields['MessageSid']} was answered with {status}")
            time.sleep(0.1)


def attempt(url, fields, timeout=15):
    """Posts a webhook once. Returns the status of the answer, or `None` without a whole answer."""
    request = urllib.request.Request(url, urlencode(fields).encode(), {"x-twilio-signature": sign(url, fields)})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            return response.status if response.read().endswith(b"<Response/>") else "no TwiML"
    except urllib.error.HTTPError as error:
        return error.code
    except (OSError, http.client.HTTPException):
        return None


def sign(url, fields, token=TOKEN):
    text = url + "".join(name + value for name, value in sorted(fields.items()))
    return base64.b64encode(hmac.new(token.encode(), text.encode(), hashlib.sha1).digest()).decode()


class _Handler(Handler):
    def do_GET(self):
        """Lists the messages to a customer, newest first."""
        if self.is_allowed():
            query = dict(parse_qsl(urlsplit(self.path).query))
            self.stage.lookups += 1
            found = [dict(message) for message in reversed(self.stage.sent.get(query["To"], []))]
            self.stage.pause()
            self.answer({"messages": [message for message in found if message["from"] == query["From"]][: int(query["PageSize"])]})

    def do_POST(self):
        fields = dict(parse_qsl(self.body_bytes().decode(), keep_blank_values=True))
        if not self.is_allowed():
            return
        length = len(fields.get("Body", "").encode("utf-16-le")) // 2
        is_known = fields.keys() == {"Body", "From", "StatusCallback", "To"} and fields["From"] == f"whatsapp:{NUMBER}"
        if not is_known or not 1 <= length <= BODY_MAX or not fields["StatusCallback"].endswith(RETRIES):
            return self.refuse(400, 21617 if length > BODY_MAX else None, f"a message has wrong fields: {fields}")
        message = self.stage.take(fields)
        self.stage.pause()
        if message:
            self.answer(message, 201)

    def is_allowed(self):
        expected = "Basic " + base64.b64encode(f"{ACCOUNT}:{TOKEN}".encode()).decode()
        if self.headers["authorization"] == expected and urlsplit(self.path).path == MESSAGES:
            return True
        self.refuse(401, 20003, f"{self.command} {self.path} is not authorized")

    def refuse(self, status, code, problem):
        self.stage.problems.append(problem)
        self.answer({"code": code, "message": problem}, status)
