"""Customers who buy in the commerce desk while the server is killed, by M-PESA or by card. Each order is asked for at most once, and its
payment said once."""
import re
import time
from collections import Counter

from campaign import PATIENCE, send
from returning import Customer, talk
from scripted_pesapal import KEY, SECRET

ITEM = "item_id,name,category,price,stock\nCT-1,Enamel mug,Kitchen,450,1000000\n"
CREDENTIALS = f"""
daraja_consumer_key = "key"
daraja_consumer_secret = "secret"
daraja_shortcode = "174379"
daraja_passkey = "passkey"
pesapal_consumer_key = "{KEY}"
pesapal_consumer_secret = "{SECRET}"
"""
# The page on which a customer pays by card.
PAGE = re.compile(r"OrderTrackingId=([0-9a-f-]+)")


def settings(daraja, pesapal, port):
    """The settings of a server whose shop is paid at these stand-ins."""
    return {
        "TENANT_SECRET_KEY": "a-key-of-the-crash-test-0123456789",
        "DARAJA_URL": daraja.url,
        "PESAPAL_URL": pesapal.url,
        "PUBLIC_URL": f"http://127.0.0.1:{port}",
        "PAYMENT_POLL_SECONDS": "1",
    }


def open_shop(server):
    """Gives the default shop goods without end and accounts at M-PESA and PesaPal."""
    server.run("seed", "commerce")
    (server.folder / "mugs.csv").write_text(ITEM)
    (server.folder / "credentials.toml").write_text(CREDENTIALS)
    server.run("import", "catalog", "--tenant", "default", "--file", server.folder / "mugs.csv")
    server.run("tenant", "set", "default", "--payments-enabled", "mpesa_stk,pesapal", "--credentials", server.folder / "credentials.toml")


class Buyer(Customer):
    """Buys again and again, each time as another customer."""

    who = "a customer who buys"

    def __init__(self, world, pesapal, number, seed):
        super().__init__(world, seed)
        self.pesapal, self.number = pesapal, number
        self.done = []

    def act(self):
        phone = f"+2547{self.number:03}{len(self.done):05}"
        conversation = self.world.open("commerce_en", user_id=phone)
        self.done.append(conversation)
        self.order(conversation, send)

    def order(self, conversation, send):
        method = self.chance.choice(("mpesa", "card"))
        # The desk asks for the method, if a kill made it forget the first answer, or for a yes to the amount.
        answers = {"goods": "yes", "cart": f"pay by {method}", "payment_prompt": ["yes", method]}
        talk(self.world, conversation, "enamel mug", answers, lambda told: told.get("type") == "payment", self.chance, send)
        self.world.figures.add("orders bought")
        if method == "card":
            self.pay_by_card(conversation)

    def pay_by_card(self, conversation):
        """Pays on the page that the desk has sent. A kill may have lost it: then it cannot be paid."""
        texts = [message["text"] for message in self.world.history(conversation) if message["sender"] == "assistant"]
        pages = {page for text in texts for page in PAGE.findall(text)}
        for page in pages:
            self.pesapal.pay(page)
        self.world.figures.add("paid by card" if pages else "lost payment pages")


def check_bought(world, daraja, pesapal, conversations):
    """No order was asked for twice, and each payment was said once."""
    said = world.violations.add
    asked = {order: len(pushes) for order, pushes in daraja.pushes.items()}
    asked = Counter(asked) + Counter(map(order_of, pesapal.checkouts.values()))
    due = set(daraja.pushes) | {order_of(pesapal.checkouts[page]) for page in pesapal.paid}
    paid, end = [], time.monotonic() + PATIENCE
    while due - set(paid) and time.monotonic() < end:
        paid = all_paid(world, conversations)
        time.sleep(0.5)
    # What is said or asked twice may come a moment later.
    time.sleep(2)
    paid = all_paid(world, conversations)
    for order, times in asked.items():
        if times > 1:
            said(f"order {order}: the customer was asked {times} times")
    if missing := due - set(paid):
        said(f"nothing was said about the payments of {sorted(missing)}")
    if unpaid := set(paid) - due:
        said(f"the orders {sorted(unpaid)} are said to be paid, but were not")
    for order in set(paid):
        if paid.count(order) > 1:
            said(f"order {order}: the payment was said {paid.count(order)} times")
    for wrong in pesapal.wrong:
        said(f"PesaPal refused a request: {wrong}")


def order_of(checkout):
    return checkout["description"].removeprefix("Order ")


def all_paid(world, conversations):
    return [order for conversation in conversations for order in paid_in(world, conversation)]


def paid_in(world, conversation):
    told = [message["metadata"] for message in world.history(conversation) if message["sender"] == "agent"]
    return [metadata["payment"]["order_id"] for metadata in told if metadata.get("payment", {}).get("status") == "paid"]
