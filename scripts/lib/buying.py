"""Customers who buy in the commerce desk while the server is killed. Each order is asked for at most once, and its payment said once."""
import time

from campaign import PATIENCE, send
from returning import Customer, talk

ITEM = "item_id,name,category,price,stock\nCT-1,Enamel mug,Kitchen,450,1000000\n"
CREDENTIALS = """
daraja_consumer_key = "key"
daraja_consumer_secret = "secret"
daraja_shortcode = "174379"
daraja_passkey = "passkey"
"""


def settings(daraja, port):
    """The settings of a server whose shop is paid at this stand-in."""
    return {
        "TENANT_SECRET_KEY": "a-key-of-the-crash-test-0123456789",
        "DARAJA_URL": daraja.url,
        "PUBLIC_URL": f"http://127.0.0.1:{port}",
        "PAYMENT_POLL_SECONDS": "1",
    }


def open_shop(server):
    """Gives the default shop goods without end and an account at M-PESA."""
    server.run("seed", "commerce")
    (server.folder / "mugs.csv").write_text(ITEM)
    (server.folder / "credentials.toml").write_text(CREDENTIALS)
    server.run("import", "catalog", "--tenant", "default", "--file", server.folder / "mugs.csv")
    server.run("tenant", "set", "default", "--payments-enabled", "mpesa_stk", "--credentials", server.folder / "credentials.toml")


class Buyer(Customer):
    """Buys again and again, each time as another customer."""

    who = "a customer who buys"

    def __init__(self, world, number, seed):
        super().__init__(world, seed)
        self.number = number
        self.done = []

    def act(self):
        phone = f"+2547{self.number:03}{len(self.done):05}"
        conversation = self.world.open("commerce_en", user_id=phone)
        self.done.append(conversation)
        self.order(conversation, send)

    def order(self, conversation, send):
        answers = {"goods": "yes", "cart": "pay", "payment_prompt": "yes"}
        talk(self.world, conversation, "enamel mug", answers, lambda told: told.get("type") == "payment", self.chance, send)
        self.world.figures.add("orders bought")


def check_bought(world, daraja, conversations):
    """No order was asked for twice, and each payment was said once."""
    said = world.violations.add
    paid, end = [], time.monotonic() + PATIENCE
    while set(daraja.pushes) - set(paid) and time.monotonic() < end:
        paid = all_paid(world, conversations)
        time.sleep(0.5)
    # What is said or asked twice may come a moment later.
    time.sleep(2)
    paid = all_paid(world, conversations)
    for order, pushes in daraja.pushes.items():
        if len(pushes) > 1:
            said(f"order {order}: the customer was asked {len(pushes)} times")
    if missing := set(daraja.pushes) - set(paid):
        said(f"nothing was said about the payments of {sorted(missing)}")
    for order in set(paid):
        if paid.count(order) > 1:
            said(f"order {order}: the payment was said {paid.count(order)} times")


def all_paid(world, conversations):
    return [order for conversation in conversations for order in paid_in(world, conversation)]


def paid_in(world, conversation):
    told = [message["metadata"] for message in world.history(conversation) if message["sender"] == "agent"]
    return [metadata["payment"]["order_id"] for metadata in told if metadata.get("payment", {}).get("status") == "paid"]
