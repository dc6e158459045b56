"""Customers who buy over WhatsApp while the server is killed. Each message is stored once, and each reply is sent once and in order."""
import time
from collections import Counter
from urllib.parse import quote

from buying import Buyer
from campaign import PATIENCE, Conversation
from scripted_twilio import ACCOUNT, NUMBER, TOKEN, attempt

CREDENTIALS = f'twilio_account_sid = "{ACCOUNT}"\ntwilio_auth_token = "{TOKEN}"\n'


def connect_shop(server):
    """Gives the default shop a number at WhatsApp and an account at Twilio."""
    file = server.folder / "twilio.toml"
    file.write_text(CREDENTIALS)
    server.run("tenant", "set", "default", "--whatsapp-number", NUMBER, "--whatsapp-persona", "commerce_en", "--credentials", file)


class Writer(Buyer):
    """Buys again and again, each time from another phone."""

    who = "a customer who buys over WhatsApp"

    def __init__(self, world, pesapal, twilio, number, seed):
        super().__init__(world, pesapal, number, seed)
        self.twilio = twilio
        self.url = world.server.env["PUBLIC_URL"] + "/webhooks/twilio"
        # Phone -> its conversation.
        self.done = {}

    def act(self):
        self.phone, self.written = f"+2541{self.number:03}{len(self.done):05}", []
        # The first message opens the conversation.
        self.write(f"{self.phone}-0", "hi")
        conversation = Conversation(self.world, find_conversations(self.world, self.phone)[0])
        conversation.posted[f"{self.phone}-0"] = ("hi", None, None)
        self.done[self.phone] = conversation
        self.order(conversation, self.send)

    def send(self, world, conversation, key, text):
        """Sends a message, and waits for a reply. Returns the turn."""
        self.write(key, text)
        return [message["turn"] for message in world.history(conversation) if message["sender"] == "user"][-1]

    def write(self, key, text):
        fields = {
            "AccountSid": ACCOUNT, "Body": text, "From": f"whatsapp:{self.phone}", "MessageSid": f"SM{key}",
            "NumMedia": "0", "ProfileName": "Wanjikũ & co", "SmsStatus": "received", "To": f"whatsapp:{NUMBER}",
        }
        self.written.append(fields)
        replies = len(self.twilio.bodies(self.phone))
        if self.chance.random() < 0.3:
            # Twilio closes the connection while the server may be storing the message, and tries again.
            attempt(self.url, fields, timeout=0.003)
        self.twilio.post(self.url, fields)
        if self.chance.random() < 0.3:
            self.twilio.post(self.url, self.chance.choice(self.written))
        self.world.figures.add("messages over WhatsApp")
        end = time.monotonic() + PATIENCE
        while len(self.twilio.bodies(self.phone)) == replies:
            if time.monotonic() > end:
                raise RuntimeError(f"{self.phone} got no reply to {key} in {PATIENCE} s\n{self.world.server.tail()}")
            time.sleep(0.02)


def find_conversations(world, phone):
    """Returns the ids of a customer's conversations."""
    _, page = world.insist("GET", f"/conversations?user_id={quote(phone)}")
    return [found["id"] for found in page["conversations"]]


def check_messages(world, twilio, done):
    """Each message was stored once, and each reply was sent once, in order. `done` are the phones with their conversations."""
    said = world.violations.add
    end = time.monotonic() + PATIENCE
    for phone, conversation in done.items():
        while problem_of(world, twilio, phone, conversation) and time.monotonic() < end:
            time.sleep(0.2)
    # What is sent twice may come a moment later.
    time.sleep(3)
    for phone, conversation in done.items():
        if problem := problem_of(world, twilio, phone, conversation):
            said(f"{phone}: {problem}")
    if strangers := set(twilio.sent) - {f"whatsapp:{phone}" for phone in done}:
        said(f"messages were sent to {sorted(strangers)}, whose conversations are unknown")
    for problem in twilio.problems:
        said(f"Twilio: {problem}")
    world.figures.add("replies over WhatsApp", sum(map(len, twilio.sent.values())))
    world.figures.add("lost answers of Twilio", twilio.lost)
    world.figures.add("lookups at Twilio", twilio.lookups)


def problem_of(world, twilio, phone, conversation):
    """Returns what is wrong with a conversation, or `None`."""
    if len(found := find_conversations(world, phone)) != 1:
        return f"the customer has the conversations {found}"
    history = world.history(conversation)
    stored = [message for message in history if message["sender"] == "user"]
    texts, written = [message["text"] for message in stored], [text for text, _, _ in conversation.posted.values()]
    if texts != written or len({message["turn"] for message in stored}) != len(stored):
        return f"{written} is stored as {texts} in the turns {[message['turn'] for message in stored]}"
    replies = [message for message in history if message["sender"] != "user" and not message["metadata"].get("cut")]
    expected, sent = [letters(reply["text"]) for reply in replies], [letters(body) for body in twilio.bodies(phone)]
    if expected != sent:
        missing, extra = Counter(expected) - Counter(sent), Counter(sent) - Counter(expected)
        return f"the replies of {conversation.id} were sent in another order, not at all {list(missing)}, or too often {list(extra)}"
    if late := [reply["id"] for reply in replies if reply.get("delivery", {}).get("status") != "delivered"]:
        return f"the reports about {late} of {conversation.id} are not stored"
    return None


def letters(text):
    """Removes white space and marks, which change when a text is formatted for WhatsApp."""
    return "".join(filter(str.isalnum, text))
