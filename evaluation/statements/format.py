"""The statements form: one statement in its place a line, labelled or not."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field

from evaluation.jsonl import Record
from evaluation.words import Words
from memgate_core.model import EvidenceJudgement, EvidenceType, HistoryTurn, Role, Statement

Label = Literal["speculation", "completed_event", "correction", "other"]


class HistoryLine(Record):
    """A preceding message."""

    role: Role
    content: str


class StatementLine(Record):
    """A statement with up to two preceding turns, oldest first; more are cut to the last two."""

    id: str = Field(min_length=1)
    text: Words
    history: tuple[HistoryLine, ...] = ()
    message: Words | None = None
    """The whole message that the text stands in, white space apart."""
    role: Role = Role.USER
    label: Label | None = None

    def statement(self) -> Statement:
        """As the classifier sees it; a label is never part of it.

        A text that does not stand in its message, white space apart, is judged on its own.
        """
        words, message, start = self._in_place()
        return Statement(
            text=words,
            message=message,
            role=self.role,
            history=tuple(HistoryTurn(role=h.role, content=h.content) for h in self.history[-2:]),
            start=start,
        )

    def _in_place(self) -> tuple[str, str, int]:
        wanted = r"\s+".join(re.escape(word) for word in self.text.split())
        found = re.search(wanted, self.message or "")
        if found is None or self.message is None:
            return self.text, self.text, 0
        return found.group(), self.message, found.start()


class JudgementLine(Record):
    """What a classifier said of a statement."""

    id: str
    evidence_type: Label
    probabilities: dict[Label, float]
    cues: tuple[str, ...]
    model_calls: int


def judgement_line(line_id: str, judgement: EvidenceJudgement) -> JudgementLine:
    """The line that is written for a judgement; a fault is added where there was one."""
    extra = {"fault": judgement.fault} if judgement.fault else {}
    return JudgementLine.model_validate(
        {
            "id": line_id,
            "evidence_type": judgement.evidence_type.value,
            "probabilities": {
                kind.value: round(judgement.probabilities.get(kind, 0.0), 6)
                for kind in EvidenceType
            },
            "cues": judgement.cues,
            "model_calls": judgement.model_calls,
            **extra,
        }
    )
