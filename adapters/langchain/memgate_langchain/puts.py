"""One put before the gate: what of it may be stored, and which facts it then carries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from langgraph.store.base import PutOp

from memgate_core.gate import MemoryGate
from memgate_core.intake import identify
from memgate_core.ledger.protocol import TurnRecord
from memgate_core.ledger.terms import terms_of
from memgate_core.model import FactStatus, Receipt, StagedItem, Subject
from memgate_langchain.namespaces import Namespaces
from memgate_langchain.naming import held_named, is_of_a_relative
from memgate_langchain.natives import put_as_json
from memgate_langchain.said import Said, said_in
from memgate_langchain.statements import Leaf, leaves, with_text
from memgate_langchain.writing import Writing, current_writing

Clock = Callable[[], datetime]
HELD = "held, not yet a fact"
_ON_HELD = "rests on held words"
_UNSAID = "rests on no words of the user's"


class Writer(StrEnum):
    """Whose words puts are, where nothing else is known."""

    MODEL = "model"
    """A model's paraphrase of what a user said (memory tools): it settles nothing by itself."""
    USER = "user"
    """The user's own words, put by the application: they may confirm and end plans."""


WhoseWords = Writer | str | Callable[[PutOp], Writer | str]
"""Whose words all puts are, or a function that says it of each. A tool's puts are a model's
whatever this says."""


@dataclass(frozen=True)
class KeptBack:
    """Something that was not stored."""

    namespace: tuple[str, ...]
    key: str
    reason: str
    staged_ids: tuple[str, ...] = ()


@dataclass
class JudgedPut:
    """A put with the gate's word on it."""

    given: PutOp
    subject: Subject | None = None
    op: PutOp | None = None
    """What goes to the wrapped store; None when nothing of it may."""
    fact_ids: tuple[str, ...] = ()
    """Facts that the stored item carries."""
    message_id: str | None = None
    text: str | None = None
    kept_back: list[KeptBack] = field(default_factory=list)

    def keep_back(self, reason: str, staged_ids: tuple[str, ...] = ()) -> None:
        """Notes that a part is not stored."""
        self.kept_back.append(KeptBack(self.given.namespace, self.given.key, reason, staged_ids))


def now() -> datetime:
    """The moment of a put: LangGraph's puts carry no time of their own."""
    return datetime.now(UTC)


class PutJudge:
    """Takes puts through the gate. Safe to share between threads."""

    def __init__(
        self,
        gate: MemoryGate,
        namespaces: Namespaces,
        *,
        writer: WhoseWords = Writer.MODEL,
        clock: Clock = now,
    ) -> None:
        self._gate, self._namespaces = gate, namespaces
        self._writer = writer if callable(writer) else Writer(writer)
        self._clock = clock

    def writer_of(self, op: PutOp) -> Writer:
        """Whose words a put is."""
        if current_writing() is not None:
            return Writer.MODEL
        return Writer(self._writer(op)) if callable(self._writer) else self._writer

    def judge(self, op: PutOp) -> JudgedPut:
        """The put as it may go on. A put without sentences goes on unless it names a held value.

        Raises:
            InvalidTurnError: the value holds text that cannot be judged (NUL, lone surrogates).
            LedgerError: nothing was written; the put may be repeated.
        """
        if not self._namespaces.gates(op.namespace):
            return JudgedPut(op, op=op)
        if op.value is None:
            return JudgedPut(op, self._namespaces.subject_of(op.namespace), op=op)
        judged = JudgedPut(op, self._namespaces.subject_of(op.namespace), op=op)
        found = leaves(op.value)
        writing = self._writing(judged)
        kept = [(leaf, self._kept_of(judged, leaf, writing)) for leaf in found]
        for leaf, text in reversed(kept):  # from the end, so that places in lists stay true
            if text != leaf.text:
                judged.op = _reworded(judged.op, leaf, text)
        if judged.kept_back and not _says_anything(judged, found):
            judged.op = None
        return judged

    def _writing(self, judged: JudgedPut) -> Writing | None:
        writing = current_writing()
        return writing if writing is not None and writing.subject == judged.subject else None

    def _kept_of(self, judged: JudgedPut, leaf: Leaf, writing: Writing | None) -> str | None:
        """What of a string may be stored."""
        assert judged.subject is not None
        if leaf.states and writing is not None:
            return self._judge_on_turns(judged, leaf, writing)
        named: Sequence[StagedItem] = ()
        if self.writer_of(judged.given) is Writer.MODEL:
            named = held_named(self._gate.ledger, judged.subject, leaf.text)
        if named and not (leaf.states and is_of_a_relative(leaf.text, named)):
            return self._judge_as_said(judged, leaf, self._behind(judged.subject, leaf, named))
        return self._judge_as_turn(judged, leaf) if leaf.states else leaf.text

    def _judge_on_turns(self, judged: JudgedPut, leaf: Leaf, writing: Writing) -> str | None:
        """What a model's tool writes stands or falls with the words of the turns that it read."""
        assert judged.subject is not None
        ids = writing.message_ids
        if (said := said_in(leaf.text, self._records(judged.subject, ids))) is not None:
            return self._as_judged(judged, leaf, said)
        (verdict,) = self._gate.judge_extracted(judged.subject, ids, [leaf.text])
        if not verdict.allowed or not self._shares_words(judged.subject, verdict.message_id, leaf):
            judged.keep_back(_UNSAID if verdict.allowed else verdict.reason)
            return None
        judged.fact_ids = tuple(dict.fromkeys((*judged.fact_ids, *verdict.fact_ids)))
        judged.message_id, judged.text = verdict.message_id, leaf.text
        return leaf.text

    def _shares_words(self, subject: Subject, message_id: str | None, leaf: Leaf) -> bool:
        """False for what a tool read elsewhere, a file say, when the user only asked for it."""
        records = self._records(subject, [message_id] if message_id else [])
        return any(terms_of(record.text) & terms_of(leaf.text) for record in records)

    def _judge_as_said(
        self, judged: JudgedPut, leaf: Leaf, records: Sequence[TurnRecord]
    ) -> str | None:
        """A text that names what is held: the user's own words stand as they were judged."""
        said = said_in(leaf.text, records) if leaf.states else None
        if said is None:
            judged.keep_back(_ON_HELD)
            return None
        return self._as_judged(judged, leaf, said)

    def _as_judged(self, judged: JudgedPut, leaf: Leaf, said: Said) -> str | None:
        assert judged.subject is not None
        facts = [found.fact_id for found in said.facts if found.fact_id is not None]
        beside = said.beside_facts
        if not all(map(self._holds, facts)) or (
            beside and held_named(self._gate.ledger, judged.subject, beside)
        ):
            judged.keep_back(_ON_HELD)
            return None
        if not said.whole:
            judged.keep_back(HELD)
        kept = leaf.text if said.whole else said.kept
        if kept is not None:
            judged.fact_ids = tuple(dict.fromkeys((*judged.fact_ids, *facts)))
            judged.message_id, judged.text = said.record.message_id, kept
        return kept

    def _behind(
        self, subject: Subject, leaf: Leaf, named: Sequence[StagedItem]
    ) -> Sequence[TurnRecord]:
        """Messages that the text may be quoted from: those that the held items and the facts it
        names rest on."""
        terms = terms_of(leaf.text)
        known = self._gate.ledger.facts(subject, include_pending_native=True)
        facts = [fact for fact in known if terms_of(fact.words) & terms]
        ids = [item.evidence.message_id for item in named]
        ids += [fact.evidence.message_id for fact in facts]
        return self._records(subject, dict.fromkeys(ids))

    def _records(self, subject: Subject, message_ids: Iterable[str]) -> list[TurnRecord]:
        found = (self._gate.ledger.turn(subject, message_id) for message_id in message_ids)
        return [record for record in found if record is not None]

    def _holds(self, fact_id: str) -> bool:
        fact = self._gate.ledger.fact(fact_id)
        return fact is not None and fact.status is FactStatus.CURRENT

    def _judge_as_turn(self, judged: JudgedPut, leaf: Leaf) -> str | None:
        assert judged.subject is not None
        turn = identify(leaf.text, subject=judged.subject, occurred_at=self._clock())
        settles = self.writer_of(judged.given) is Writer.USER
        receipt = self._gate.observe(turn, carried=True, settles=settles)
        staged = tuple(j.staged_id for j in receipt.judged if j.staged_id is not None)
        if staged:
            held = {"langgraph": put_as_json(judged.given, leaf.path)}
            self._gate.answered(judged.subject, receipt.message_id, held)
        if receipt.shadow or receipt.forward == leaf.text:
            self._carries(judged, receipt, leaf.text)
            return leaf.text
        judged.keep_back(HELD if staged else _why(receipt), staged)
        if receipt.forward is not None:
            self._carries(judged, receipt, receipt.forward)
        return receipt.forward

    def _carries(self, judged: JudgedPut, receipt: Receipt, text: str) -> None:
        facts = [j.fact_id for j in receipt.judged if j.fact_id and j.decision.decision.writes]
        judged.fact_ids = tuple(dict.fromkeys((*judged.fact_ids, *facts, *_committed(receipt))))
        judged.message_id, judged.text = receipt.message_id, text


def _reworded(op: PutOp | None, leaf: Leaf, text: str | None) -> PutOp | None:
    if op is None:
        return None
    return op._replace(value=with_text(op.value, leaf.path, text))


def _says_anything(judged: JudgedPut, given: Sequence[Leaf]) -> bool:
    """True when what is left still says something, if the whole did."""
    value: Mapping[str, Any] = (judged.op.value if judged.op is not None else None) or {}
    left = leaves(value)
    if any(leaf.states for leaf in given):
        return any(leaf.states for leaf in left)
    return bool(left)


def _committed(receipt: Receipt) -> list[str]:
    return [j.fact_id for j in receipt.closings if j.fact_id is not None]


def _why(receipt: Receipt) -> str:
    if receipt.resolved:
        return "settles a held item, which is written as that"
    reasons = [j.decision.reason for j in receipt.judged if not j.decision.decision.writes]
    return reasons[0] if reasons else "nothing of it may be stored"
