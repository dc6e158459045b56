"""Customers who claim refunds while the server is killed. Each claim must open one case, and each decision be said once."""
from returning import Customer, decide, talk

# The sample accounts' invoices: user id, number, amount.
INVOICES = [("u123", "INV-20251001", "145"), ("u123", "INV-12345", "145"), ("u456", "INV-45601", "65")]


class Claimer(Customer):
    """Claims one invoice again and again, each time in a new conversation. A person rejects each claim, so that the next is possible."""

    who = "a customer who claims a refund"

    def __init__(self, world, invoice, seed):
        super().__init__(world, seed)
        self.user, self.invoice, self.amount = invoice
        # Conversation -> its case.
        self.done = {}

    def act(self):
        conversation = self.world.open("telecom_en")
        first = f"I was overcharged {self.amount} PLN on invoice {self.invoice}, my customer ID is {self.user}"
        self.done[conversation] = None
        talk(self.world, conversation, first, {"billing_prompt": "yes"}, lambda told: "refund_case" in told, self.chance)
        self.done[conversation] = case = next(iter(cases_in(self.world, conversation)))
        path = f"/console/api/refund-cases/{case}/decide"
        decide(self.world, conversation, path, {"decision": "reject", "why": "no overcharge"}, case)
        self.world.figures.add("refund cases")


def cases_in(world, conversation):
    told = [message["metadata"] for message in world.history(conversation)]
    return {metadata["refund_case"]["case_id"] for metadata in told if "refund_case" in metadata}


def check_claims(world, done, listed):
    """Each claim opened one case: `done` are the conversations with their cases, `listed` the cases of the database."""
    said = world.violations.add
    for conversation, case in done.items():
        cases = cases_in(world, conversation)
        if cases != {case}:
            said(f"{conversation.id}: the customer received the cases {sorted(cases)}, not {case}")
    # A customer who gave up has none.
    cases = [case for case in done.values() if case]
    if sorted(cases) != sorted(set(cases)):
        said(f"two claims have the same case: {sorted(cases)}")
    if sorted(listed) != sorted(cases):
        said(f"cases without a claim, or claims without a case: {sorted(set(listed) ^ set(cases))}")
