"""PesaPal's API, version 3, for tests: makes checkouts, reports those that a customer pays, and answers questions about them."""
import random
import threading
import time
from datetime import datetime, timedelta, timezone
from urllib.parse import parse_qs, urlsplit

from stand_in import Handler, StandIn, insist

KEY, SECRET = "card-key", "card-secret"
# Shorter than the server takes for a campaign, so that it signs in again.
TOKEN_SECONDS = 5


class ScriptedPesapal(StandIn):
    """Checks each request's token and fields. Some answers are late, and some reports come twice."""

    def __init__(self, seed):
        self.chance, self.lock = random.Random(f"{seed}/pesapal"), threading.Lock()
        self.tokens, self.addresses = {}, {}
        # Tracking id -> the order's fields; the tracking ids that were paid; what was wrong with requests.
        self.checkouts, self.paid, self.wrong = {}, set(), []
        super().__init__(_Handler)

    def sign_in(self, body):
        if (body.get("consumer_key"), body.get("consumer_secret")) != (KEY, SECRET):
            return refused("invalid_consumer_key_or_secret_provided")
        expires = datetime.now(timezone.utc) + timedelta(seconds=TOKEN_SECONDS)
        with self.lock:
            token = f"token-{len(self.tokens)}"
            self.tokens[token] = expires
        return {"token": token, "expiryDate": expires.isoformat().replace("+00:00", "Z"), "error": None, "status": "200"}

    def is_signed_in(self, header):
        expires = self.tokens.get((header or "").removeprefix("Bearer "))
        return expires is not None and datetime.now(timezone.utc) < expires

    def register(self, body):
        if body.get("ipn_notification_type") != "POST" or "/webhooks/pay/" not in body.get("url", ""):
            return self.refuse("RegisterIPN", ["url"])
        with self.lock:
            ipn = f"ipn-{len(self.addresses)}"
            self.addresses[ipn] = body["url"]
        return {"url": body["url"], "ipn_id": ipn, "error": None, "status": "200"}

    def submit(self, body):
        rules = {
            "id": 1 <= len(body.get("id", "")) <= 50,
            "description": 1 <= len(body.get("description", "")) <= 100,
            "currency": body.get("currency") == "KES",
            "amount": isinstance(body.get("amount"), (int, float)) and body["amount"] > 0,
            "callback_url": "/webhooks/pay/" in body.get("callback_url", ""),
            "notification_id": body.get("notification_id") in self.addresses,
            "billing_address": bool(body.get("billing_address", {}).get("phone_number")),
        }
        if wrong := [field for field, holds in rules.items() if not holds]:
            return self.refuse("SubmitOrderRequest", wrong)
        with self.lock:
            tracking = f"b945e4af-80a5-4ec1-8706-{len(self.checkouts):012}"
            self.checkouts[tracking] = body
            pause = self.chance.uniform(0, 0.2)
        time.sleep(pause)
        page = f"{self.url}/iframe?OrderTrackingId={tracking}"
        return {"order_tracking_id": tracking, "merchant_reference": body["id"], "redirect_url": page, "error": None, "status": "200"}

    def status(self, tracking):
        order = self.checkouts.get(tracking)
        if order is None:
            return refused("payment_details_not_found")
        return {
            "payment_method": "Visa", "amount": order["amount"], "currency": order["currency"], "confirmation_code": f"CARD{tracking[-6:]}",
            "payment_status_description": "", "status_code": int(tracking in self.paid), "merchant_reference": order["id"],
            "error": {"error_type": None, "code": None, "message": None}, "status": "200",
        }

    def pay(self, tracking):
        """The customer pays on the page; its report follows, sometimes twice."""
        with self.lock:
            self.paid.add(tracking)
            waits = [self.chance.uniform(0, 1) for _ in range(self.chance.choice((1, 2)))]
        order = self.checkouts[tracking]
        notice = {"OrderNotificationType": "IPNCHANGE", "OrderTrackingId": tracking, "OrderMerchantReference": order["id"]}
        for wait in waits:
            threading.Thread(target=insist, args=(self.addresses[order["notification_id"]], notice, wait), daemon=True).start()

    def refuse(self, path, fields):
        self.wrong.append(f"{path}: {', '.join(fields)}")
        return refused("invalid_request")


def refused(code):
    return {"error": {"error_type": "api_error", "code": code, "message": code}, "status": "500"}


class _Handler(Handler):
    def do_GET(self):
        self.respond("GET", {})

    def do_POST(self):
        self.respond("POST", self.body())

    def respond(self, method, body):
        stage, path = self.stage, urlsplit(self.path)
        name = path.path.rsplit("/", 1)[-1]
        if (method, name) == ("POST", "RequestToken"):
            return self.answer(stage.sign_in(body))
        if not stage.is_signed_in(self.headers.get("authorization")):
            return self.answer(refused("invalid_token") | {"status": "401"}, 401)
        if (method, name) == ("GET", "GetTransactionStatus"):
            return self.answer(stage.status(parse_qs(path.query).get("orderTrackingId", [""])[0]))
        answers = {"RegisterIPN": stage.register, "SubmitOrderRequest": stage.submit}
        if method != "POST" or name not in answers:
            stage.wrong.append(f"PesaPal has no {method} {self.path}")
            return self.answer(refused("not_found"), 404)
        self.answer(answers[name](body))
