#!/usr/bin/env python3
"""Writes serials.tsv: 10,000 generated strings and what the pattern of seed 004 finds in each, joined by '|'.

    python3 tests/data/make_serials.py > tests/data/serials.tsv

The seed of the generator is fixed, so the table is the same every time. re.ASCII is part of the rule: without it
`\\d` would take the digits of other scripts, which the rule's [A-Za-z0-9-] leaves out.
"""
import random
import re

SERIAL = re.compile(
    r"(?<![A-Za-z0-9-])(?=[A-Za-z0-9-]*\d[A-Za-z0-9-]*)([A-Za-z0-9-]{3,32})(?![A-Za-z0-9-])", re.ASCII
)
LETTERS = "abcxyzABCXYZ"
DIGITS = "0123456789"
VIETNAMESE = "đĐơưăâêôạảấầẩẫậắằẳẵặéèẻẽẹếềểễệốồổỗộớờởỡợứừửữựỳỷỹỵ"
FOREIGN_DIGITS = "٠١٢٣٤٥٦٧٨٩०१२३४५६７８９²³①Ⅳ"
OTHERS = " .,;:!?_/\\|'\"()[]{}@#$%^&*+=~`–—‑­\u00a0\u200b\u0301é😀İıſK"
LENGTHS = [1, 2, 2, 3, 3, 4, 7, 12, 30, 31, 31, 32, 32, 33, 33, 34, 64, 65]
rng = random.Random(20240004)


def run() -> str:
    alphabet = rng.choice([LETTERS + DIGITS + "-", LETTERS + "-", DIGITS, LETTERS, "-", LETTERS + "-" * 6 + "1", DIGITS + "-"])
    return "".join(rng.choice(alphabet) for _ in range(rng.choice(LENGTHS)))


def between() -> str:
    alphabet = rng.choice([" ", " ", VIETNAMESE, FOREIGN_DIGITS, OTHERS, VIETNAMESE + FOREIGN_DIGITS + OTHERS])
    return "".join(rng.choice(alphabet) for _ in range(rng.choice([0, 1, 1, 1, 2, 3])))


def soup() -> str:
    alphabet = LETTERS + DIGITS * 2 + "-" * 8 + VIETNAMESE + FOREIGN_DIGITS + OTHERS
    return "".join(rng.choice(alphabet) for _ in range(rng.randrange(0, 24)))


def text() -> str:
    if rng.random() < 0.25:
        return soup()
    return between() + "".join(run() + between() for _ in range(rng.randrange(1, 5)))


def main() -> None:
    for _ in range(10_000):
        line = text()
        print(line + "\t" + "|".join(SERIAL.findall(line)))


if __name__ == "__main__":
    main()
