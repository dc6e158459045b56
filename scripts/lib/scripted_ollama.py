"""A language model for tests: speaks Ollama's protocol, and streams long Vietnamese replies at a pace."""
import json
import random
import re
import threading
import time

from stand_in import Handler, StandIn

MODELS = ["gpt-oss:latest", "bge-m3:latest"]
WORDS = (
    "dạ quý khách máy này phù hợp với nhu cầu học tập và làm việc hằng ngày pin bền màn hình rõ nét trọng lượng nhẹ "
    "bảo hành chính hãng tại cửa hàng bộ nhớ lớn tốc độ đọc ghi nhanh bàn phím gõ êm được nhiều người ưa chuộng thưởng "
    "ngoài ra em gợi ý thêm chuột không dây và túi chống sốc để mình tiện mang theo khi di chuyển xa"
).split()


CLAIM = "open_refund_case"
SAID = re.compile(r"overcharged (\d+) PLN on invoice (\S+?),")


def claim(messages):
    """Calls the tool with what the customer said, then names the case of its result."""
    if messages[-1]["role"] == "tool":
        case = re.search(r"R\d{5,}", messages[-1]["content"])
        return {"role": "assistant", "content": f"Your case {case[0]} is open." if case else "I could not open a case."}
    amount, invoice = SAID.search(messages[-1]["content"]).groups()
    arguments = {"reason": "overcharge", "amount_pln": int(amount), "invoice_id": invoice}
    return {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": CLAIM, "arguments": arguments}}]}


class ScriptedOllama(StandIn):
    """`even`: the pace is kept exactly, and a packet is a line; else both are left to chance."""

    def __init__(self, seed, pace=0.008, words=(60, 160), even=False):
        self.seed, self.pace, self.words, self.even = seed, pace, words, even
        self.chats = 0
        self.lock = threading.Lock()
        super().__init__(_Handler)

    def intent(self):
        return {"intent": "shopping", "confidence": 0.9, "rationale": "scripted"}

    def next_reply(self, _messages):
        """The generator of chance and the pieces of the next reply."""
        with self.lock:
            self.chats += 1
            chance = random.Random(f"{self.seed}/chat/{self.chats}")
        return chance, [chance.choice(WORDS) + " " for _ in range(chance.randint(*self.words))]


class _Handler(Handler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        if self.path == "/api/tags":
            self.answer({"models": [{"name": name, "model": name, "modified_at": "2025-01-01T00:00:00Z", "size": 1} for name in MODELS]})
        else:
            self.answer({"version": "0.9.0"})

    def do_POST(self):
        asked = self.body()
        if self.path != "/api/chat":
            self.answer({"error": "not scripted"}, 404)
        elif any(tool["function"]["name"] == CLAIM for tool in asked.get("tools") or []):
            self.answer({**_chat("", True), "message": claim(asked["messages"])})
        elif asked.get("stream") is False:
            self.answer(_chat(json.dumps(self.stage.intent()), True))
        else:
            self.stream(asked["messages"])

    def stream(self, messages):
        chance, pieces = self.stage.next_reply(messages)
        self.send_response(200)
        self.send_header("content-type", "application/x-ndjson")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if self.stage.even:
            self.stream_evenly(pieces)
        else:
            self.stream_by_chance(chance, pieces)

    def stream_evenly(self, pieces):
        due = time.monotonic()
        for piece in pieces:
            self.packet(_line(_chat(piece, False)))
            due += self.stage.pace
            time.sleep(max(0.0, due - time.monotonic()))
        self.end(b"")

    def stream_by_chance(self, chance, pieces):
        rest = b""
        for piece in pieces:
            rest += _line(_chat(piece, False))
            # Cut anywhere: in the middle of a line, and of a letter's bytes.
            letters = [at for at, byte in enumerate(rest) if at and 0x80 <= byte < 0xC0]
            cut = chance.choice(letters) if letters and chance.random() < 0.7 else chance.randint(1, len(rest))
            self.packet(rest[:cut])
            rest = rest[cut:]
            time.sleep(self.stage.pace * chance.uniform(0.2, 1.8))
        self.end(rest)

    def end(self, rest):
        self.packet(rest + _line(_chat("", True)))
        self.wfile.write(b"0\r\n\r\n")

    def packet(self, data):
        assert data, "an empty chunk ends the body"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


def _chat(text, done):
    end = {"done_reason": "stop", "eval_count": 1} if done else {}
    return {"model": MODELS[0], "created_at": "2025-01-01T00:00:00Z", "message": {"role": "assistant", "content": text}, "done": done, **end}


def _line(value):
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"
