"""What is done, and when: all of it from the seed, before anything runs."""
import hashlib
import itertools
import random
from dataclasses import dataclass

KILLS_IN_A_ROUND = 5
TEXTS = [
    ("tư vấn mua laptop cho sinh viên", 6),
    ("mình cần mua SSD 1TB, bạn tư vấn giúp", 3),
    ("alo", 1),
    ("kiểm tra bảo hành giúp mình", 1),
    ("bảo hành sản phẩm ABC12345", 1),
    ("I want to buy a laptop for school", 1),
]


@dataclass(frozen=True)
class Post:
    pause: float
    text: str
    key: str
    # /stream, and leave after so many events; None: /messages.
    stream: int | None
    # Post the same once more.
    twice: bool
    # Cancel after so many seconds; None: let it run.
    cancel: float | None
    # A person of the shop takes the conversation over, says this, and gives it back.
    person: bool


@dataclass(frozen=True)
class Visit:
    """One connection of a reader."""

    pause: float
    events: int
    silence: float
    in_query: bool


@dataclass(frozen=True)
class Kill:
    # How long after the start, or after the checks that follow it; `early`: at the start, before anything is checked.
    after: float
    early: bool
    # The store is stopped in this mode for so many seconds instead; None: the server is killed.
    outage: tuple[str, float] | None


@dataclass(frozen=True)
class Round:
    kills: list[Kill]
    posts: list[list[Post]]
    visits: list[list[Visit]]


def make(seed, kills, conversations, readers, outages):
    """`outages`: the modes in which the store is stopped, one after another; empty: the server is only killed."""
    chance = random.Random(seed)
    modes = itertools.cycle(outages or [None])
    rounds = []
    while kills > 0:
        count = min(kills, KILLS_IN_A_ROUND)
        kills -= count
        rounds.append(
            Round(
                [_kill(chance, modes) for _ in range(count)],
                [[_post(chance, f"{len(rounds)}-{c}-{i}") for i in range(200)] for c in range(conversations)],
                [[_visit(chance) for _ in range(100)] for _ in range(readers)],
            )
        )
    return rounds


def digest(rounds):
    """Equal digests mean equal plans."""
    return hashlib.sha256(repr(rounds).encode()).hexdigest()[:12]


def _kill(chance, modes):
    early = chance.random() < 0.2
    after = chance.uniform(0.0, 0.3) if early else chance.uniform(0.05, 1.5)
    seconds = chance.uniform(0.5, 4.0)
    # One in three is still a kill.
    mode = next(modes) if chance.random() < 0.67 else None
    return Kill(after, early, (mode, seconds) if mode else None)


def _post(chance, key):
    texts, weights = zip(*TEXTS)
    return Post(
        pause=chance.uniform(0.05, 0.9),
        text=chance.choices(texts, weights)[0],
        key=key,
        stream=chance.randint(1, 60) if chance.random() < 0.3 else None,
        twice=chance.random() < 0.3,
        cancel=chance.uniform(0.0, 0.8) if chance.random() < 0.15 else None,
        person=chance.random() < 0.12,
    )


def _visit(chance):
    return Visit(
        pause=chance.choice([0.0, chance.uniform(0.0, 0.6)]),
        events=chance.choice([1, 3, 20, 80, 10_000]),
        silence=chance.uniform(0.3, 3.0),
        in_query=chance.random() < 0.3,
    )
