"""Prints router.tsv: python3 tests/data/telecom/router.py > tests/data/telecom/router.tsv

The function is a transcription of the pseudocode that the router implements, branch by branch, with its redundant tests.
"""

from itertools import product

SPECIALISTS = ("technical", "billing")


def route(category, confidence, last_agent, has_recent_context):
    if confidence >= 0.7 and category in SPECIALISTS:
        if last_agent in SPECIALISTS and has_recent_context:
            if category == last_agent or category == "unknown":
                return last_agent
            else:
                return category
        else:
            return category
    elif last_agent in SPECIALISTS and confidence < 0.7:
        return last_agent
    elif confidence >= 0.5 and category in SPECIALISTS:
        return category
    else:
        return "fallback"


print("category", "confidence", "last_agent", "recent", "route", sep="\t")
for category, confidence, last, recent in product(
    ("technical", "billing", "unknown"),
    (0, 0.49, 0.5, 0.69, 0.7, 1),
    (None, "technical", "billing", "fallback"),
    (False, True),
):
    print(category, confidence, last or "-", recent, route(category, confidence, last, recent), sep="\t")
