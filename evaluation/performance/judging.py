"""What judging costs: a statement, a turn, and a turn beside many held items or facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path

from evaluation.jsonl import read
from evaluation.performance.measured import Measured, Series, median, percentile, times
from evaluation.seeding import seed_facts, seed_held
from evaluation.statements.format import StatementLine
from memgate_core import MemoryGate
from memgate_core.judgement.encoder import Encoders
from memgate_core.judgement.local import LocalClassifier
from memgate_core.ledger.open import open_ledger
from memgate_core.model import Subject

STATEMENTS = Path(__file__).parents[1] / "data" / "statements" / "hard.jsonl"
_START = datetime(2026, 1, 5, 9, tzinfo=UTC)
_TURNS = (
    "I might swap the allotment for a bigger one in spring, we'll see.",
    "I sold the piano on Friday.",
    "Could you find me a recipe for leeks?",
    "My sister lives in Malmö and her train was late again.",
    "We moved to Utrecht last week, boxes everywhere.",
    "I'm thinking about learning the cello.",
    "Thanks, that helped.",
    "I work nights at the bakery now.",
)


def statements(count: int = 300) -> Iterator[Measured]:
    """Milliseconds a statement, one statement a call, on one thread. Each is judged three times and
    counts with its middle time: the percentiles are of statements, not of what else the machine
    did."""
    classifiers = [LocalClassifier(Encoders()) for _ in range(3)]  # each with nothing kept yet
    lines = [line.statement() for _, line in islice(read(STATEMENTS, StatementLine), count)]
    rounds = []
    for classifier in classifiers:
        classifier.classify(lines[-1:])
        rounds.append(times([partial(classifier.classify, [line]) for line in lines[:-1]]))
    taken = [median(three) for three in zip(*rounds, strict=True)]
    for share, target in ((50, 2.0), (95, None), (99, 10.0)):
        yield Measured(
            part="judging",
            name=f"statement, p{share}",
            value=percentile(taken, share),
            unit="ms",
            target=target,
        )


def turns(gate: MemoryGate, subject: Subject, rounds: int, prefix: str) -> list[float]:
    """Milliseconds of each of many different turns of one subject."""
    turns_ = [
        gate.turn(
            text,
            user_id=subject.user_id,
            tenant=subject.tenant,
            occurred_at=_START + timedelta(minutes=number),
            message_id=f"{prefix}-{number}",
        )
        for number, text in enumerate(_TURNS * rounds)
    ]
    return times([lambda t=turn: gate.observe(t) for turn in turns_])  # type: ignore[misc]


def held_turn() -> Iterator[Measured]:
    """One held statement, whole way of a turn on an embedded ledger in memory."""
    with MemoryGate.open("sqlite://") as gate:
        turns(gate, Subject(user_id="warm"), 1, "warm")
        taken = turns(gate, Subject(user_id="ana"), 6, "turn")
        calls = sum(
            record.receipt.model_calls for record in gate.ledger.turns(Subject(user_id="ana"))
        )
    yield Measured(part="judging", name="turn, p50", value=median(taken), unit="ms")
    yield Measured(part="judging", name="turn, p95", value=percentile(taken, 95), unit="ms")
    yield Measured(
        part="judging",
        name="model calls a turn, local",
        value=calls / len(taken),
        unit="",
        target=0,
    )


def by_held_items(folder: Path, sizes: Sequence[int]) -> Series:
    """Median turn of one subject that has so many held items."""
    values = []
    for size in sizes:
        ledger = open_ledger(f"sqlite:///{folder / f'held-{size}.db'}")
        subject = Subject(user_id="ana")
        seed_held(ledger, subject, size, at=_START)
        with MemoryGate.open("sqlite://", ledger=ledger) as gate:
            turns(gate, subject, 1, "warm")
            values.append(median(turns(gate, subject, 5, "turn")))
    return Series(
        name="turn by held items of the subject", unit="ms", sizes=list(sizes), values=values
    )


def by_facts(folder: Path, sizes: Sequence[int], *, a_subject: int = 100) -> Series:
    """Median turn beside so many facts in the ledger, of many subjects."""
    values = []
    for size in sizes:
        ledger = open_ledger(f"sqlite:///{folder / f'facts-{size}.db'}")
        for number in range(max(1, size // a_subject)):
            seed_facts(ledger, Subject(user_id=f"u{number}"), min(size, a_subject), at=_START)
        with MemoryGate.open("sqlite://", ledger=ledger) as gate:
            subject = Subject(user_id="u0")
            turns(gate, subject, 1, "warm")
            values.append(median(turns(gate, subject, 5, "turn")))
    return Series(name="turn by facts in the ledger", unit="ms", sizes=list(sizes), values=values)


def growth(series: Series, *, until: int, target: float) -> Measured:
    """How much dearer a turn is at `until` than at the smallest size."""
    at = series.sizes.index(until)
    return Measured(
        part="scale",
        name=f"{series.name}: {until:,} against {series.sizes[0]:,}",
        value=series.values[at] / series.values[0],
        unit="×",
        target=target,
    )
