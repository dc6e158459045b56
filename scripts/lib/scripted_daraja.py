"""M-PESA's API for tests: takes prompts, calls back until somebody listens, and says that everything is paid."""
import json
import random
import socketserver
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler

PATIENCE = 120


class ScriptedDaraja:
    """A server on a free port of 127.0.0.1; serves from threads until it is closed. Some answers to prompts are lost."""

    def __init__(self, seed):
        self.chance, self.lock = random.Random(f"{seed}/daraja"), threading.Lock()
        # Order -> the numbers of its prompts.
        self.pushes = {}
        self.count = 0
        stage = self

        class Handler(_Handler):
            daraja = stage

        self.server = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()

    def push(self, body):
        """Returns the number of a prompt, how long its answer takes, and whether the answer is lost."""
        with self.lock:
            self.count += 1
            number = f"ws_CO_{self.count:06}"
            self.pushes.setdefault(body["AccountReference"], []).append(number)
            pause, is_lost, wait = self.chance.uniform(0, 0.2), self.chance.random() < 0.2, self.chance.uniform(0, 1)
        threading.Thread(target=call_back, args=(body["CallBackURL"], number, wait), daemon=True).start()
        return number, pause, is_lost

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def call_back(url, number, wait):
    time.sleep(wait)
    metadata = {"Item": [{"Name": "MpesaReceiptNumber", "Value": f"QK{number[-6:]}AB"}]}
    stk = {"CheckoutRequestID": number, "ResultCode": 0, "ResultDesc": "paid", "CallbackMetadata": metadata}
    data = json.dumps({"Body": {"stkCallback": stk}}).encode()
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            request = urllib.request.Request(url, data, {"content-type": "application/json"})
            return urllib.request.urlopen(request, timeout=10).read()
        except (OSError, urllib.error.URLError):
            time.sleep(0.2)


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def handle_error(self, request, client_address):
        # A killed client.
        pass


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer({"access_token": "token", "expires_in": "3599"})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/stkpushquery/v1/query"):
            return self.answer({"ResponseCode": "0", "ResultCode": "0", "CheckoutRequestID": body["CheckoutRequestID"]})
        number, pause, is_lost = self.daraja.push(body)
        time.sleep(pause)
        if not is_lost:
            self.answer({"ResponseCode": "0", "CheckoutRequestID": number, "MerchantRequestID": "1"})

    def answer(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
