"""Models that answer by rule or go wrong in a chosen way, at the boundary of the process."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memgate_core.judgement.ports.port import Question, Reply

Material = dict[str, Any]


def kind_of(words: str) -> str:
    """What the rule says of some words: enough for these tests."""
    low = words.lower()
    if any(hedge in low for hedge in ("might", "may ", "thinking of", "planning")):
        return "speculation"
    if any(done in low for done in ("sold", "moved", "bought", "joined")):
        return "completed_event"
    return "other"


def statement_row(row: Material) -> Material:
    """A well-formed answer about a statement."""
    kind = kind_of(row["words"])
    answer = {"n": row["n"], "type": kind, "confidence": 0.95, "standing": "own"}
    if row.get("slot_wanted"):
        answer["slot"] = "none"
    if kind == "speculation":
        answer |= {
            "cue": row["words"].split()[0],
            "true_when": f"The user says that this has happened: {row['words']}",
            "off_when": f"The user says that this is off: {row['words']}",
        }
    return answer


def held_row(row: Material, message: str) -> Material:
    """A well-formed answer about a held item: settled where the plan's last word is named."""
    named = row["plan"].rstrip(".").split()[-1].lower()
    outcome = (
        "confirm" if named in message.lower() and kind_of(message) != "speculation" else "nothing"
    )
    words = message.rstrip(".") if outcome == "confirm" else None
    return {"n": row["n"], "outcome": outcome, "confidence": 0.95, "words": words}


def sheet(material: Material) -> Material:
    """The whole answer."""
    message = material["messages"][0]["message"]
    return {
        "statements": [statement_row(row) for row in material.get("statements", [])],
        "held": [held_row(row, message) for row in material.get("held", [])],
    }


@dataclass
class ScriptedModel:
    """A `ModelPort` that fills in the sheet by `answer`, or fails as told."""

    answer: Callable[[Material], Any] = sheet
    fails: Exception | None = None
    takes_s: float = 0.0
    name: str = "scripted"
    questions: list[Question] = field(default_factory=list)

    def ask(self, question: Question, *, timeout: float) -> Reply:
        self.questions.append(question)
        if self.takes_s:
            time.sleep(self.takes_s)
        if self.fails is not None:
            raise self.fails
        content = self.answer(json.loads(question.material))
        text = content if isinstance(content, str) else json.dumps(content)
        return Reply(content=text, tokens_in=100, tokens_out=20)

    @property
    def materials(self) -> list[Material]:
        """What was asked."""
        return [json.loads(question.material) for question in self.questions]
