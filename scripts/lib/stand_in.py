"""Test servers that replace real services."""
import json
import socketserver
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler


PATIENCE = 300


def insist(url, body, wait):
    """Calls back after `wait` seconds, again and again until somebody listens."""
    time.sleep(wait)
    data = json.dumps(body).encode()
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            request = urllib.request.Request(url, data, {"content-type": "application/json"})
            return urllib.request.urlopen(request, timeout=10).read()
        except (OSError, urllib.error.URLError):
            time.sleep(0.2)


class StandIn:
    """A server on a free port of 127.0.0.1; serves from threads until it is closed. Its handlers have it as `stage`."""

    def __init__(self, handler):
        self.server = _Server(("127.0.0.1", 0), type("Handler", (handler,), {"stage": self}))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A client that is killed in the middle is what these tests are about."""


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def body(self):
        return json.loads(self.body_bytes() or b"{}")

    def body_bytes(self):
        length = int(self.headers.get("content-length", 0))
        data = self.rfile.read(length)
        if len(data) < length:
            raise ConnectionResetError("the client was killed while it sent the body")
        return data

    def answer(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
