"""M-PESA's API for tests: takes prompts, calls back until somebody listens, and says that everything is paid."""
import random
import threading
import time

from stand_in import Handler, StandIn, insist


class ScriptedDaraja(StandIn):
    """Some answers to prompts are lost."""

    def __init__(self, seed):
        self.chance, self.lock = random.Random(f"{seed}/daraja"), threading.Lock()
        # Order -> the numbers of its prompts.
        self.pushes = {}
        self.count = 0
        super().__init__(_Handler)

    def push(self, body):
        """Returns the number of a prompt, how long its answer takes, and whether the answer is lost."""
        with self.lock:
            self.count += 1
            number = f"ws_CO_{self.count:06}"
            self.pushes.setdefault(body["AccountReference"], []).append(number)
            pause, is_lost, wait = self.chance.uniform(0, 0.2), self.chance.random() < 0.2, self.chance.uniform(0, 1)
        threading.Thread(target=call_back, args=(body["CallBackURL"], number, wait), daemon=True).start()
        return number, pause, is_lost


def call_back(url, number, wait):
    metadata = {"Item": [{"Name": "MpesaReceiptNumber", "Value": f"QK{number[-6:]}AB"}]}
    stk = {"CheckoutRequestID": number, "ResultCode": 0, "ResultDesc": "paid", "CallbackMetadata": metadata}
    insist(url, {"Body": {"stkCallback": stk}}, wait)


class _Handler(Handler):
    def do_GET(self):
        self.answer({"access_token": "token", "expires_in": "3599"})

    def do_POST(self):
        body = self.body()
        if self.path.endswith("/stkpushquery/v1/query"):
            return self.answer({"ResponseCode": "0", "ResultCode": "0", "CheckoutRequestID": body["CheckoutRequestID"]})
        number, pause, is_lost = self.stage.push(body)
        time.sleep(pause)
        if not is_lost:
            self.answer({"ResponseCode": "0", "CheckoutRequestID": number, "MerchantRequestID": "1"})
