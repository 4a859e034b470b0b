"""Does a memory ever show what rests on held words? Do plans that came true end with their day?

    python -m evaluation.memories.held FILE… [--memory mem0|graphiti]
        [--extraction recorded:literal|recorded:cautious|local]

FILE is a conversations file (.jsonl) or a hand-written source (.txt). After every turn everything
that the framework's own reads return is looked at (Graphiti: edges, node summaries, episodes), by
provenance: on which message does a memory rest, and is a word of it held? A leak is the adapter's
where the gate held the words and the framework shows them all the same; it is the judges' where a
labelled plan was never held. Exit status 1: the adapter let something through, or a promotion is
not what the memory shows at the end.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from evaluation.jsonl import read
from evaluation.memories.pipeline import GatedMemoryPipeline
from evaluation.memories.readable import Readable, reader_of
from evaluation.plans.format import Conversation, Step
from evaluation.plans.pipeline import message_id_of, subject_of
from evaluation.plans.setting import Setting
from evaluation.plans.source import conversations
from memgate_core.fields.values import same_value
from memgate_core.model import Fact, FactStatus, StagedItem, StagedStatus

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
    shown: bool
    """The framework shows it as current, since that day where it shows days, and nothing that it
    replaced."""

    @property
    def right(self) -> bool:
        """Current, with a day of beginning that is not later than the day on which it was told."""
        same = self.value is not None and same_value(self.value, self.expected)
        return same and self.since is not None and self.since <= self.told_on


class Watch:
    """One conversation through a gated framework, looked at after every turn."""

    def __init__(self, told: Conversation, setting: Setting) -> None:
        self._told = told
        self._line = GatedMemoryPipeline(told, setting)
        self._reader = reader_of(self._line.memory, told, self._line.gate.ledger)
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
            shown=fact is not None and self._shows(fact),
        )

    def close(self) -> None:
        """Closes the framework and the gate."""
        self._line.close()

    def _shows(self, fact: Fact) -> bool:
        stated = [row for row in self._reader.read() if row.states]
        ids = [{carried.fact_id for carried in row.carries} for row in stated]
        since = {
            row.since for row, carried in zip(stated, ids, strict=True) if fact.fact_id in carried
        }
        ended = [row for row in stated if any(_still_told(row, one, fact) for one in row.carries)]
        return bool(since) and since <= {fact.valid_from.date(), None} and not ended

    def _after(self, step: Step) -> Iterator[Leak]:
        ledger = self._line.gate.ledger
        items = ledger.staged(subject_of(self._told), status=None)
        held = [item for item in items if item.status in _HELD]
        for row in self._reader.read():
            by = self._by(row, step.index, held)
            if by is not None:
                yield Leak(
                    conversation=self._told.id,
                    turn=step.index,
                    said_in=max(self._said_in(row), default=None),
                    memory=row.text,
                    by=by,
                )

    def _by(
        self, row: Readable, now: int, held: Sequence[StagedItem]
    ) -> Literal["adapter", "judges"] | None:
        asserted = [fact for fact in row.carries if fact.status is FactStatus.CURRENT]
        untold = [item for item in held if not _is_told(item, asserted)]
        if any(self._rests_on(item, row) for item in untold):
            return "adapter"
        said = max(self._said_in(row), default=now)
        return "judges" if self._tells_the_plan(row.text, said, now) else None

    def _rests_on(self, item: StagedItem, row: Readable) -> bool:
        """True for the held words themselves, and for what an extractor made of them."""
        if item.words.casefold() in row.text.casefold():
            return True
        if row.said_in and item.evidence.message_id not in row.said_in:
            return False
        said_in = self._turns.get(item.evidence.message_id)
        steps = [step for step in self._told.steps() if step.index == said_in]
        made = [one for step in steps for one in step.recorded("literal") if one.text == row.text]
        return any(one.span and _share(one.span, item.words) for one in made)

    def _tells_the_plan(self, text: str, said_in: int, now: int) -> bool:
        """True for the planned value, said with the plan or later, before the outcome is told."""
        told = self._told
        plan, outcome = told.marked("plan"), told.marked("outcome")
        if told.plan_value is None or plan is None or said_in < plan:
            return False
        is_open = outcome is None or now < outcome or told.outcome == "abandoned"
        return is_open and told.plan_value.casefold() in text.casefold()

    def _said_in(self, row: Readable) -> list[int]:
        return [self._turns[said] for said in row.said_in if said in self._turns]


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
    parser.add_argument("--memory", choices=("mem0", "graphiti"), default="mem0")
    parser.add_argument("--extraction", default="recorded:literal")
    options = parser.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    setting = Setting.model_validate({"memory": options.memory, "extraction": options.extraction})
    leaks: list[Leak] = []
    ends: list[Came] = []
    count = 0
    for _told, found, came in watched(told_in(options.files), setting):
        count, leaks = count + 1, [*leaks, *found]
        ends += [came] if came is not None else []
        for leak in found:
            where = f"{leak.conversation} turn {leak.turn}"
            print(f"{where}: {leak.by}: {leak.memory!r} (said in turn {leak.said_in})", flush=True)
        if came is not None and came.promoted and came.right and not came.shown:
            print(f"{came.conversation}: {came.value!r} is not what the memory shows", flush=True)
        if came is not None and came.promoted and not came.right:
            print(f"{came.conversation}: ends as {came.value!r} since {came.since}, ", end="")
            print(f"not {came.expected!r} (told on {came.told_on})", flush=True)
    promoted = [came for came in ends if came.promoted]
    adapter = sum(leak.by == "adapter" for leak in leaks)
    right = sum(came.right for came in promoted)
    shown = sum(came.right and came.shown for came in promoted)
    print(f"{count} conversations")
    print(f"leaks: {adapter} by the adapter, {len(leaks) - adapter} by the judges")
    print(f"plans that came true: {len(ends)}; promoted: {len(promoted)}; ", end="")
    print(f"right: {right}; and read so: {shown}")
    return 1 if adapter or shown < right else 0


_Plain = argparse.RawDescriptionHelpFormatter


def _is_told(item: StagedItem, asserted: Sequence[Fact]) -> bool:
    """True where the judges also took a fact from the very words that they held: then what Mem0
    shows is the fact."""
    spans = [f.evidence for f in asserted if f.evidence.message_id == item.evidence.message_id]
    return any(one.span.overlaps(item.evidence.span) for one in spans)


def _still_told(row: Readable, ended: Fact, by: Fact) -> bool:
    """True where a memory tells what the fact `by` replaced. One that carries other facts too
    stays, without the words of the ended one."""
    if ended.key != by.key or ended.status is FactStatus.CURRENT:
        return False
    rest = any(other.status is FactStatus.CURRENT for other in row.carries)
    told = [words for words in (ended.words, ended.value) if words]
    return not rest or any(words.casefold() in row.text.casefold() for words in told)


def _share(one: str, other: str) -> bool:
    return one.casefold() in other.casefold() or other.casefold() in one.casefold()


if __name__ == "__main__":
    sys.exit(main())
