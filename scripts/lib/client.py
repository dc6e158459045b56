"""A client of the wire contract: calls, and server-sent events as a browser takes them in."""
import http.client
import json

from child import KEY

LOST = (OSError, http.client.HTTPException)


class Client:
    def __init__(self, port):
        self.port = port

    def call(self, method, path, body=None, headers=None, timeout=15):
        """Status, answer; that of a 503 has the seconds of `Retry-After`. Raises one of LOST where no whole answer came."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            response = self._send(connection, method, path, body, headers)
            data = response.read()
            answer = json.loads(data) if data else None
            if response.status == 503:
                answer["retry_after"] = int(response.headers.get("retry-after", 0))
            return response.status, answer
        finally:
            connection.close()

    def events(self, method, path, body=None, headers=None, timeout=20):
        """The status first, then `(id, data)` of each whole event; ends with the connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            response = self._send(connection, method, path, body, headers)
            yield response.status
            id_, data = None, []
            while line := response.readline():
                text = line.decode().rstrip("\r\n")
                field, _, value = text.partition(":")
                value = value.removeprefix(" ")
                if not line.endswith(b"\n"):
                    return
                if field == "id":
                    id_ = value
                elif field == "data":
                    data.append(value)
                elif not text:
                    if data:
                        yield id_, "\n".join(data)
                    id_, data = None, []
        finally:
            connection.close()

    @staticmethod
    def _send(connection, method, path, body, headers):
        sent = {"x-api-key": KEY} | (headers or {})
        if body is not None:
            body = json.dumps(body).encode()
            sent["content-type"] = "application/json"
        connection.request(method, path, body, sent)
        return connection.getresponse()


def place(id_):
    turn, n = id_.split(".")
    return int(turn), int(n)
