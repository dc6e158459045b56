"""Customers who return orders while the server is killed. Each order must get one RMA, one label and one mail."""
import email
import email.policy
import json
import random
import re
import threading
import time
from datetime import datetime, timedelta, timezone

from campaign import PATIENCE, Over, send

# More messages than any way through the flow takes, with a kill in each.
MOST_MESSAGES = 40
ENDED = ("completed", "failed", "interrupted", "cancelled")
LINK = re.compile(r"http://\S+/labels/\S+")


class Orders:
    """Returnable orders in the shop's database, each of a different customer."""

    def __init__(self, server, count):
        self.server, self.next, self.lock = server, 0, threading.Lock()
        # The return policies come with the sample shop.
        self.server.run("seed", "returns")
        now = datetime.now(timezone.utc)
        file = server.folder / "orders.json"
        file.write_text(json.dumps([self.order(number, now) for number in range(count)]))
        self.server.run("import", "orders", "--file", file)

    @staticmethod
    def order(number, now):
        ordered, shipped, delivered = ((now - timedelta(days=days)).isoformat(timespec="seconds") for days in (9, 8, 5))
        return {
            "order_number": f"CT-{number:05}",
            "customer_email": address(number),
            "customer_name": f"Buyer {number}",
            "status": "Delivered",
            "ordered_at": ordered,
            "shipped_at": shipped,
            "delivered_at": delivered,
            "currency": "USD",
            "items": [{"item_name": "Hiking Boots", "quantity": 1, "unit_price": "129.99"}],
        }

    def take(self):
        with self.lock:
            self.next += 1
            return self.next - 1


def address(number):
    return f"crash-{number}@example.com"


class Customer(threading.Thread):
    """Does the same again and again, each time in a new conversation: `act`. `who` names it in violations."""

    def __init__(self, world, seed):
        super().__init__(daemon=True)
        self.world, self.chance = world, random.Random(seed)
        self.enough = threading.Event()

    def run(self):
        try:
            while not self.enough.is_set():
                self.act()
        except Over:
            pass
        except Exception as error:
            self.world.violations.add(f"{self.who} gave up: {error!r}")


class Returner(Customer):
    """Returns one order after another, each in a new conversation, and answers all questions."""

    who = "a customer who returns"

    def __init__(self, world, orders, seed):
        super().__init__(world, seed)
        self.orders = orders
        # Order -> its conversation.
        self.done = {}

    def act(self):
        self.give_back(self.orders.take())

    def give_back(self, number):
        conversation = self.world.open("returns_en")
        self.done[number] = conversation
        request = f"I want to return order CT-{number:05}, my email is {address(number)}"
        answers = {"order_confirm": "yes", "action_prompt": "return"}
        if self.chance.random() < 0.3:
            talk(self.world, conversation, f"{request}, it arrived shattered", answers, lambda told: "escalation" in told, self.chance)
            return self.approve(conversation)
        talk(self.world, conversation, request, answers, lambda told: "action_ticket" in told, self.chance)
        if self.chance.random() < 0.3:
            talk(self.world, conversation, "actually they arrived shattered", {}, lambda told: "escalation" in told, self.chance)
            self.world.figures.add("escalations")
        self.world.figures.add("returns")

    def approve(self, conversation):
        """A person approves the review, and the customer hears of it."""
        told = [message["metadata"] for message in self.world.history(conversation)]
        ticket = next(metadata["escalation"]["ticket_id"] for metadata in told if "escalation" in metadata)
        path = f"/console/api/escalations/{ticket}/resolve"
        decide(self.world, conversation, path, {"decision": "approve", "why": "photos seen"}, ticket)
        self.world.figures.add("decisions")
        self.world.figures.add("returns")


def decide(world, conversation, path, decision, about):
    """Sends a person's decision, and waits until the customer hears of it."""
    status, answer = world.insist("POST", path, decision)
    if status != 200:
        raise RuntimeError(f"POST {path}: {status} {answer}")
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        said = [message for message in world.history(conversation) if "decision" in message["metadata"]]
        if said:
            with conversation.lock:
                conversation.posted[f"decision:{about}"] = (said[0]["text"], said[0]["id"], said[0]["turn"])
            return
        time.sleep(0.05)
    raise RuntimeError(f"nothing was said in {conversation.id} about {about} in {PATIENCE} s")


def talk(world, conversation, first, answers, is_done, chance, send=send):
    """Says `first`, then what answers the last message, or `first` again, until a message says that it is done. Of a list of answers,
    the next one is said each time. `send` posts each."""
    text = first
    for number in range(MOST_MESSAGES):
        time.sleep(chance.uniform(0.0, 0.3))
        key = f"{conversation.id}-{len(conversation.posted)}"
        with conversation.lock:
            conversation.posted[key] = (text, None, None)
        turn = send(world, conversation, key, text)
        ended(world, conversation, turn)
        told = [message["metadata"] for message in world.history(conversation) if message["sender"] == "assistant"]
        if any(map(is_done, told)):
            return
        text = answers.get(told[-1].get("type"), first)
        if isinstance(text, list):
            text = text[number % len(text)]
    raise RuntimeError(f"{conversation.id} did not come to its end in {MOST_MESSAGES} messages")


def ended(world, conversation, turn):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        status, record = world.insist("GET", f"{conversation.path}/turns/{turn}")
        if status == 200 and record["status"] in ENDED:
            return
        time.sleep(0.02)
    raise RuntimeError(f"turn {turn} of {conversation.id} did not end in {PATIENCE} s\n{world.server.tail()}")


def check_returns(world, done):
    """Each order was sent back once: `done` are the orders with their conversations."""
    said = world.violations.add
    rmas = {}
    for number, conversation in done.items():
        told = [message["metadata"] for message in world.history(conversation)]
        tickets = {metadata["action_ticket"]["id"] for metadata in told if "action_ticket" in metadata}
        tickets |= {metadata["decision"]["rma_number"] for metadata in told if "decision" in metadata}
        escalations = {metadata["escalation"]["ticket_id"] for metadata in told if "escalation" in metadata}
        if len(tickets) != 1:
            said(f"order {number}: the customer received the returns {sorted(tickets)}")
        if len(escalations) > 1:
            said(f"order {number}: the customer received the escalations {sorted(escalations)}")
        is_decided = any("decision" in metadata for metadata in told)
        rmas[number] = (tickets, bool(escalations) and not is_decided)
    mails = wait_for_mails(world, rmas)
    for number, (tickets, escalated) in rmas.items():
        check_mails(world, number, tickets, escalated, mails.get(address(number), []))


def check_mails(world, number, tickets, escalated, mails):
    said = world.violations.add
    if len(mails) != 1:
        return said(f"order {number}: {len(mails)} mails under the ids {sorted(mail['message-id'] for mail in mails)}")
    text = mails[0].get_content()
    if not any(ticket in text for ticket in tickets):
        said(f"order {number}: the mail names another return than {sorted(tickets)}")
    link = LINK.search(text)
    if link:
        path = "/" + link[0].split("/", 3)[3]
        status, _ = world.insist("HEAD", path)
        # A locked return gets no label before a person has decided.
        if status != 200 and not escalated:
            said(f"order {number}: its label {path} is {status}")
        world.figures.add("labels")
    else:
        said(f"order {number}: the mail has no link to a label")


def wait_for_mails(world, numbers):
    """Returns the sent mails by address, once each of these orders has its mail or a timeout has passed."""
    end = time.monotonic() + PATIENCE
    while True:
        mails = {}
        for file in (world.server.folder / "database" / "outbox").glob("*.eml"):
            mail = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
            mails.setdefault(mail["to"], []).append(mail)
        missing = [number for number in numbers if address(number) not in mails]
        if not missing:
            return mails
        if time.monotonic() > end:
            world.violations.add(f"orders without their mail after {PATIENCE} s: {missing[:10]}")
            return mails
        time.sleep(0.2)
