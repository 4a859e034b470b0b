"""The `llm` backend: a language model fills in one sheet for everything that a turn asks."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ValidationError

from memgate_core.judgement.inquiry import (
    Findings,
    HeldFinding,
    HeldRow,
    Inquiry,
    Missing,
    Passage,
    Row,
    RowFinding,
)
from memgate_core.judgement.ports.port import ModelPort, Question, Reply
from memgate_core.judgement.prompts import prompt, version
from memgate_core.judgement.repair import json_object
from memgate_core.judgement.sheet import (
    HeldAnswer,
    HeldSheet,
    Sheet,
    StatementAnswer,
    StatementSheet,
    conditions_of,
    held_finding,
    numbered,
    row_finding,
)
from memgate_core.model import JsonObject

_LONGEST_MESSAGE = 12_000
"""Characters of a message that are shown; the asked words are quoted in their rows anyway."""
_LONGEST_TURN = 1_500
_TOKENS, _TOKENS_A_ROW = 300, 200
"""Room for an answer, several times what a proper one takes."""
_STATEMENT_TASKS = ("classify", "standing", "match", "conditions")


class LlmOracle:
    """Answers inquiries through a language model. Implements `Oracle`."""

    def __init__(self, port: ModelPort) -> None:
        self._port = port
        tasks = ("frame", *_STATEMENT_TASKS, "check")
        wordings = ",".join(f"{task}{version(task)}" for task in tasks)
        self.name = f"llm/1:{port.name}:{wordings}"

    def answer(self, inquiry: Inquiry, *, timeout: float) -> tuple[Findings, Reply]:
        """All rows in one request; rows that are absent or malformed come back as missing.

        Raises:
            ModelFaultError: no JSON object in the answer, a refusal, a timeout.
            Exception: whatever the model's client raises.
        """
        question = Question(
            system=_instructions(inquiry),
            material=json.dumps(_material(inquiry), ensure_ascii=False, indent=1),
            answer=_form(inquiry),
            longest=_TOKENS + _TOKENS_A_ROW * (len(inquiry.rows) + len(inquiry.held)),
        )
        reply = self._port.ask(question, timeout=timeout)
        return _findings(inquiry, json_object(reply.content)), reply


def _instructions(inquiry: Inquiry) -> str:
    tasks = ["frame"]
    if inquiry.rows:
        tasks += [task for task in _STATEMENT_TASKS if task != "match" or inquiry.unplaced]
    if inquiry.held:
        tasks.append("check")
    return "\n\n".join(prompt(task) for task in tasks)


def _form(inquiry: Inquiry) -> type[BaseModel]:
    if inquiry.rows and inquiry.held:
        return Sheet
    return StatementSheet if inquiry.rows else HeldSheet


def _material(inquiry: Inquiry) -> JsonObject:
    number = {passage: n for n, passage in enumerate(inquiry.passages, 1)}
    material: JsonObject = {"messages": [_passage(p, n) for p, n in number.items()]}
    if inquiry.said_on is not None:
        material["today"] = inquiry.said_on.isoformat()
    if inquiry.unplaced:
        material["fields"] = {field.attribute: field.description for field in inquiry.fields}
    if inquiry.rows:
        material["statements"] = [
            _row(row, n, number[row.passage], row in inquiry.unplaced)
            for n, row in enumerate(inquiry.rows, 1)
        ]
    if inquiry.held:
        material["held"] = [
            _held(row, n, number[row.passage]) for n, row in enumerate(inquiry.held, 1)
        ]
    return material


def _passage(passage: Passage, n: int) -> JsonObject:
    shown: JsonObject = {"message_number": n, "speaker": passage.role.value}
    shown["before"] = [
        {"speaker": turn.role.value, "words": turn.content[-_LONGEST_TURN:]}
        for turn in passage.history
    ]
    shown["message"] = passage.message[:_LONGEST_MESSAGE]
    return shown


def _row(row: Row, n: int, message: int, unplaced: bool) -> JsonObject:
    shown: JsonObject = {"n": n, "message_number": message, "words": row.words}
    if row.attribute is not None or row.value is not None:
        shown |= {"about": row.entity, "attribute": row.attribute, "value": row.value}
    if unplaced:
        shown["slot_wanted"] = True
    return shown


def _held(row: HeldRow, n: int, message: int) -> JsonObject:
    return {
        "n": n,
        "message_number": message,
        "plan": row.plan,
        "said": row.said,
        "said_on": row.said_on.isoformat(),
        "true_when": row.true_when,
        "off_when": row.off_when,
    }


def _findings(inquiry: Inquiry, found: dict[str, Any]) -> Findings:
    findings = Findings()
    statements = numbered(found, "statements")
    for n, row in enumerate(inquiry.rows, 1):
        answer = _checked(StatementAnswer, statements.get(n))
        if not isinstance(answer, StatementAnswer):
            findings.rows[row] = answer
            continue
        findings.rows[row] = _known_slot(inquiry, row_finding(answer, row))
        if (conditions := conditions_of(answer)) is not None:
            findings.conditions[row] = conditions
    held = numbered(found, "held")
    for n, item in enumerate(inquiry.held, 1):
        settled = _checked(HeldAnswer, held.get(n))
        findings.held[item] = (
            _supported(held_finding(settled, item)) if isinstance(settled, HeldAnswer) else settled
        )
    return findings


def _checked(form: type[BaseModel], row: Any) -> Any:
    if row is None:
        return Missing(reason="the model left a question unanswered")
    try:
        return form.model_validate(row)
    except ValidationError as fault:
        where = ", ".join(sorted({str(e["loc"][0]) for e in fault.errors() if e["loc"]}))
        return Missing(reason=f"the model answered outside the form ({where})")


def _known_slot(inquiry: Inquiry, finding: RowFinding) -> RowFinding | Missing:
    known = {field.attribute for field in inquiry.fields}
    if finding.slot is not None and finding.slot not in known:
        return Missing(reason="the model named a field that is not registered")
    return finding


def _supported(finding: HeldFinding) -> HeldFinding | Missing:
    """A settlement rests on words of the message, or it is none."""
    if finding.resolution != "nothing" and finding.span is None:
        return Missing(reason="the model quoted words that the message does not have")
    return finding
