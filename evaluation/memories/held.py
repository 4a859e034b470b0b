"""Does Mem0 ever show what rests on held words? And do plans that came true end with their day?

    python -m evaluation.memories.held FILE… [--extraction recorded:literal|recorded:cautious|local]

FILE is a conversations file (.jsonl) or a hand-written source (.txt). After every turn everything
that Mem0's own `get_all` and `search` return is looked at, by provenance: on which message does a
memory rest, and is a word of it held? A leak is the adapter's where the gate held the words and
Mem0 shows them all the same; it is the judges' where a labelled plan was never held. Exit status
1: the adapter let something through.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from evaluation.jsonl import read
from evaluation.memories.mem0 import Mem0Memory
from evaluation.memories.pipeline import GatedMemoryPipeline
from evaluation.plans.format import Conversation, Step
from evaluation.plans.pipeline import message_id_of, subject_of
from evaluation.plans.setting import Setting
from evaluation.plans.source import conversations
from memgate_core.fields.values import same_value
from memgate_core.model import Fact, FactStatus, StagedItem, StagedStatus

_SEEN = 1000
_HELD = (StagedStatus.PENDING, StagedStatus.PROMOTING)


class Leak(BaseModel):
    """A memory that is read although what it says is not true yet."""

    conversation: str
    turn: int
    """The turn after which it was read."""
    said_in: int | None
    """The turn whose words it rests on."""
    memory: str
    by: Literal["adapter", "judges"]


class Came(BaseModel):
    """A plan that came true: what the profile says of it at the end."""

    conversation: str
    promoted: bool
    value: str | None
    expected: str
    since: date | None
    told_on: date

    @property
    def right(self) -> bool:
        """Current, with a day of beginning that is not later than the day on which it was told."""
        same = self.value is not None and same_value(self.value, self.expected)
        return same and self.since is not None and self.since <= self.told_on


class Watch:
    """One conversation through gated Mem0, looked at after every turn."""

    def __init__(self, told: Conversation, setting: Setting) -> None:
        self._told = told
        self._line = GatedMemoryPipeline(told, setting)
        memory = self._line._memory
        assert isinstance(memory, Mem0Memory)
        self._mem0: Any = memory.memory
        self._turns = {message_id_of(told, step): step.index for step in told.steps()}
        self._promoted = False

    def leaks(self) -> Iterator[Leak]:
        """Every leak, once, at the first turn after which it was read."""
        seen: set[str] = set()
        for step in self._told.steps():
            trace = self._line.take(step)
            self._promoted |= any(r.resolution == "promoted" for r in trace.resolutions)
            for leak in self._after(step):
                if leak.memory not in seen:
                    seen.add(leak.memory)
                    yield leak

    def came(self) -> Came | None:
        """What became of a plan that came true; None for any other conversation."""
        told, outcome = self._told, self._told.marked("outcome")
        if told.outcome != "came_true" or told.plan_value is None or outcome is None:
            return None
        fact = self._line.gate.profile(subject_of(told)).current(told.field.attribute)
        return Came(
            conversation=told.id,
            promoted=self._promoted,
            value=fact.value if fact else None,
            expected=told.plan_value,
            since=fact.valid_from.date() if fact else None,
            told_on=next(s.date.date() for s in told.steps() if s.index == outcome),
        )

    def close(self) -> None:
        """Closes Mem0 and the gate."""
        self._line.close()

    def _after(self, step: Step) -> Iterator[Leak]:
        ledger = self._line.gate.ledger
        items = ledger.staged(subject_of(self._told), status=None)
        held = [item for item in items if item.status in _HELD]
        for row in self._readable():
            text, said_in = str(row["memory"]), self._said_in(str(row["id"]))
            by = self._by(row, text, said_in, step.index, held)
            if by is not None:
                yield Leak(
                    conversation=self._told.id,
                    turn=step.index,
                    said_in=said_in,
                    memory=text,
                    by=by,
                )

    def _by(
        self,
        row: dict[str, Any],
        text: str,
        said_in: int | None,
        now: int,
        held: Sequence[StagedItem],
    ) -> Literal["adapter", "judges"] | None:
        carries = self._mem0.desk.facts_of(str(row["id"]), row.get("metadata") or {})
        asserted = [fact for fact in carries if fact.status is FactStatus.CURRENT]
        untold = [item for item in held if not _is_told(item, asserted)]
        if any(self._rests_on(item, text, said_in) for item in untold):
            return "adapter"
        return "judges" if self._tells_the_plan(text, said_in, now) else None

    def _rests_on(self, item: StagedItem, text: str, said_in: int | None) -> bool:
        """True for the held words themselves, and for what an extractor made of them."""
        if item.words.casefold() in text.casefold():
            return True
        if self._turns.get(item.evidence.message_id) != said_in:
            return False
        steps = [step for step in self._told.steps() if step.index == said_in]
        made = [one for step in steps for one in step.recorded("literal") if one.text == text]
        return any(one.span and _share(one.span, item.words) for one in made)

    def _tells_the_plan(self, text: str, said_in: int | None, now: int) -> bool:
        """True for the planned value, said with the plan or later, before the outcome is told."""
        told = self._told
        plan, outcome = told.marked("plan"), told.marked("outcome")
        if told.plan_value is None or plan is None or said_in is None or said_in < plan:
            return False
        is_open = outcome is None or now < outcome or told.outcome == "abandoned"
        return is_open and told.plan_value.casefold() in text.casefold()

    def _said_in(self, native_id: str) -> int | None:
        ledger = self._line.gate.ledger
        links = ledger.links(self._mem0.desk.name, native_id=native_id)
        return next((self._turns.get(link.message_id or "") for link in links), None)

    def _readable(self) -> list[dict[str, Any]]:
        filters = {"user_id": self._told.id}
        rows = list(self._mem0.get_all(filters=filters, top_k=_SEEN)["results"])
        if self._told.probe:
            found = self._mem0.search(
                self._told.probe, filters=filters, top_k=_SEEN, threshold=0.0
            )["results"]
            known = {row["id"] for row in rows}
            rows += [row for row in found if row["id"] not in known]
        return rows


def watched(
    told: Iterable[Conversation], setting: Setting
) -> Iterator[tuple[Conversation, list[Leak], Came | None]]:
    """Each conversation with its leaks and, where its plan came true, how it ended."""
    for conversation in told:
        watch = Watch(conversation, setting)
        try:
            leaks = list(watch.leaks())
            yield conversation, leaks, watch.came()
        finally:
            watch.close()


def told_in(paths: Iterable[Path]) -> Iterator[Conversation]:
    """The conversations of files of either form."""
    for path in paths:
        if path.suffix == ".txt":
            yield from map(Conversation.model_validate, conversations(path))
        else:
            yield from (one for _, one in read(path, Conversation))


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints each leak, each ending that is wrong, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Plain)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--extraction", default="recorded:literal")
    options = parser.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    setting = Setting.model_validate({"memory": "mem0", "extraction": options.extraction})
    leaks: list[Leak] = []
    ends: list[Came] = []
    count = 0
    for _told, found, came in watched(told_in(options.files), setting):
        count, leaks = count + 1, [*leaks, *found]
        ends += [came] if came is not None else []
        for leak in found:
            where = f"{leak.conversation} turn {leak.turn}"
            print(f"{where}: {leak.by}: {leak.memory!r} (said in turn {leak.said_in})", flush=True)
        if came is not None and came.promoted and not came.right:
            print(f"{came.conversation}: ends as {came.value!r} since {came.since}, ", end="")
            print(f"not {came.expected!r} (told on {came.told_on})", flush=True)
    promoted = [came for came in ends if came.promoted]
    adapter = sum(leak.by == "adapter" for leak in leaks)
    right = sum(came.right for came in promoted)
    print(f"{count} conversations")
    print(f"leaks: {adapter} by the adapter, {len(leaks) - adapter} by the judges")
    print(f"plans that came true: {len(ends)}; promoted: {len(promoted)}; right: {right}")
    return 1 if adapter else 0


_Plain = argparse.RawDescriptionHelpFormatter


def _is_told(item: StagedItem, asserted: Sequence[Fact]) -> bool:
    """True where the judges also took a fact from the very words that they held: then what Mem0
    shows is the fact."""
    spans = [f.evidence for f in asserted if f.evidence.message_id == item.evidence.message_id]
    return any(one.span.overlaps(item.evidence.span) for one in spans)


def _share(one: str, other: str) -> bool:
    return one.casefold() in other.casefold() or other.casefold() in one.casefold()


if __name__ == "__main__":
    sys.exit(main())
