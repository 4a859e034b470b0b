"""Gated against ungated, in the same run: Mem0's add and a store's put."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evaluation.performance.measured import Measured, times
from evaluation.performance.paired import WARM, paired
from memgate_core import MemoryGate
from memgate_core.judgement.local import LocalClassifier
from memgate_core.model import Statement

_START = datetime(2026, 1, 5, 9, tzinfo=UTC)
_FACTS = (
    "I live in Leeds with two cats.",
    "My dentist is Dr Okafor.",
    "I work at the town library.",
    "I play the cello in an amateur orchestra.",
    "We eat fish on Fridays.",
    "My brother teaches maths in Lyon.",
    "I am allergic to penicillin.",
    "My car is a blue Skoda.",
    "I grew up in a village near Cork.",
    "My daughter started school in September.",
)
"""What one person says; the next person says the same."""

_TOWNS = ("Leeds", "York", "Hull", "Derby", "Bath", "Ely", "Ripon", "Truro", "Wells", "Oban")
_ROUNDS = 40


def mem0() -> Iterator[Measured]:
    """A facts-only `add`, infer=False, embedded Qdrant, packaged embedder."""
    if find_spec("mem0") is None:
        return
    os.environ.setdefault("MEM0_TELEMETRY", "False")
    from mem0 import Memory

    from memgate_mem0 import embedded_config, embedded_memory, rebuild

    with tempfile.TemporaryDirectory() as folder:
        plain = Memory.from_config(embedded_config(Path(folder) / "plain"))
        gated = embedded_memory(Path(folder) / "gated")

        def alone(text: str, number: int) -> object:
            return plain.add(text, user_id=_person(number), infer=False)

        def behind(text: str, number: int) -> object:
            at = _START + timedelta(minutes=number)
            return gated.add(text, user_id=_person(number), infer=False, occurred_at=at)

        yield _ratio("mem0", "add of a fact, gated against ungated", alone, behind, target=1.3)
        name = "add of a fact that replaces one, gated against ungated"
        yield _ratio("mem0", name, alone, behind, said=_moved)
        started = times([lambda: rebuild(gated.desk)])[0]
        facts = sum(
            len(gated.gate.ledger.facts(subject))
            for subject in gated.gate.ledger.subjects("default")
        )
        yield Measured(part="mem0", name="rebuild", value=facts / started * 1000, unit="facts/s")
        for memory in (plain, gated):
            memory.close()


def langgraph() -> Iterator[Measured]:
    """A facts-only `put` into a store with the packaged embedder as its index."""
    if find_spec("langgraph") is None or find_spec("mem0") is None:
        return
    from langgraph.store.memory import InMemoryStore

    from memgate_langchain.store import GatedStore
    from memgate_mem0 import PackagedMiniLM

    embedder = PackagedMiniLM()

    def embed(texts: list[str]) -> list[list[float]]:
        return embedder.embed_batch(texts)

    def store() -> Any:
        index: Any = {"dims": 384, "embed": embed, "fields": ["text"]}
        return InMemoryStore(index=index)

    with MemoryGate.open("sqlite://") as gate:
        plain, gated = store(), GatedStore(store(), gate, writer="user")
        yield _ratio(
            "langgraph",
            "store put, gated against ungated",
            lambda text, n: plain.put(("memories", _person(n)), f"k{n}", {"text": text}),
            lambda text, n: gated.put(("memories", _person(n)), f"k{n}", {"text": text}),
            target=1.3,
        )


def _person(number: int) -> str:
    return f"u{number // len(_FACTS)}"


def _fact(number: int) -> str:
    return _FACTS[number % len(_FACTS)]


def _moved(number: int) -> str:
    return f"I live in {_TOWNS[number % len(_TOWNS)]} now."


def _ratio(
    part: str,
    name: str,
    plain: Callable[[str, int], object],
    gated: Callable[[str, int], object],
    *,
    said: Callable[[int], str] = _fact,
    target: float | None = None,
) -> Measured:
    LocalClassifier().classify([Statement(text="Hello", message="Hello")])
    numbered = ((said(number), number) for number in range(WARM + _ROUNDS))
    pairs = ((partial(plain, *one), partial(gated, *one)) for one in numbered)
    return paired(pairs).ratio(part, name, target=target)
