"""One put before the gate: what of it may be stored, and which facts it then carries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from langgraph.store.base import PutOp

from memgate_core.fields.values import same_value
from memgate_core.gate import MemoryGate
from memgate_core.intake import identify
from memgate_core.ledger.terms import terms_of
from memgate_core.model import Receipt, Subject
from memgate_core.settling import MAX_ITEMS
from memgate_langchain.namespaces import Namespaces
from memgate_langchain.natives import put_as_json
from memgate_langchain.statements import Leaf, leaves, with_text
from memgate_langchain.writing import Writing, current_writing

Clock = Callable[[], datetime]
HELD = "held, not yet a fact"


class Writer(StrEnum):
    """Whose words puts are, where nothing else is known."""

    MODEL = "model"
    """A model's paraphrase of what a user said (memory tools): it settles nothing by itself."""
    USER = "user"
    """The user's own words, put by the application: they may confirm and end plans."""


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
        writer: Writer = Writer.MODEL,
        clock: Clock = now,
    ) -> None:
        self._gate, self._namespaces = gate, namespaces
        self._writer, self._clock = writer, clock

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
        names_held = self._writer is Writer.MODEL and self._names_held(judged.subject, leaf.text)
        if leaf.states and writing is not None:
            return self._judge_on_turn(judged, leaf, writing)
        if names_held:
            judged.keep_back("rests on held words")
            return None
        return self._judge_as_turn(judged, leaf) if leaf.states else leaf.text

    def _judge_on_turn(self, judged: JudgedPut, leaf: Leaf, writing: Writing) -> str | None:
        """A model's paraphrase stands or falls with the words of the turn that it read."""
        assert judged.subject is not None
        (verdict,) = self._gate.judge_extracted(judged.subject, writing.message_ids, [leaf.text])
        if not verdict.allowed:
            judged.keep_back(verdict.reason)
            return None
        judged.fact_ids = tuple(dict.fromkeys((*judged.fact_ids, *verdict.fact_ids)))
        judged.message_id, judged.text = verdict.message_id, leaf.text
        return leaf.text

    def _judge_as_turn(self, judged: JudgedPut, leaf: Leaf) -> str | None:
        assert judged.subject is not None
        turn = identify(leaf.text, subject=judged.subject, occurred_at=self._clock())
        settles = self._writer is Writer.USER
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

    def _names_held(self, subject: Subject, text: str) -> bool:
        """True when the text names the value, or all that is said, of an item that is held."""
        terms = terms_of(text)
        for item in self._gate.ledger.touched(subject, terms, session=None, limit=MAX_ITEMS):
            named = item.value if item.value is not None else item.text
            wanted = terms_of(named)
            if same_value(named, text) or (wanted and wanted <= terms):
                return True
        return False


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
