"""Update questions, each asked of the same memory with the gate on and off (paper section 6.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel

from evaluation.answerer import Answerer, AnswererFigures
from evaluation.jsonl import read
from evaluation.memories.pipeline import framework_memory
from evaluation.plans.format import Conversation
from evaluation.plans.setting import Extraction, GateMode, MemoryName, ModelAccess, Setting
from evaluation.report.table import Table
from evaluation.statistics.bootstrap import paired_difference
from evaluation.statistics.proportion import Proportion
from memgate_core import MemoryGate
from memgate_core.errors import ConfigurationError, InvalidRecordError
from memgate_core.fields.values import same_value


class UpdateAnswer(BaseModel):
    """One question's outcome, gate on and off."""

    id: str
    chat: str
    on: bool
    off: bool
    said_on: str | None = None
    """What was answered; without a model the search result in which the answer stands."""
    said_off: str | None = None


def answers(
    path: Path,
    *,
    memory: MemoryName = "mem0",
    answerer: Answerer | None = None,
    model: ModelAccess | None = None,
    consumed: Callable[[int], None] | None = None,
) -> Iterator[UpdateAnswer]:
    """Asks each question of a fresh memory that took in its whole chat.

    With a `model` the framework extracts with it; without one Mem0 keeps messages as they are, and
    the others, which keep nothing unless somebody extracts, cannot be asked. Without an answerer an
    answer counts when it stands in what the memory's own search returns.

    Raises:
        InvalidRecordError: a malformed line, or one without probe or final_value.
        ConfigurationError: a framework that cannot be asked so. ModelFaultError: the answering
            model fails again and again.
    """
    if memory != "mem0" and (model is None or memory == "langchain"):
        raise ConfigurationError(
            f"{memory} keeps nothing of a chat that nobody extracts from",
            hint="--memory mem0, or --memory graphiti with --llm URL",
        )
    for number, conversation in read(path, Conversation, consumed=consumed):
        for key in ("probe", "final_value"):
            if not getattr(conversation, key):
                raise InvalidRecordError(path, number, key, "is missing")
        (on, said_on), (off, said_off) = (
            _asked(conversation, memory, mode, answerer, model) for mode in _MODES
        )
        yield UpdateAnswer(
            id=conversation.id,
            chat=str((conversation.model_extra or {}).get("chat", conversation.id)),
            on=on,
            off=off,
            said_on=said_on,
            said_off=said_off,
        )


_MODES: tuple[GateMode, ...] = ("on", "off")


def _asked(
    conversation: Conversation,
    memory: MemoryName,
    mode: GateMode,
    answerer: Answerer | None,
    model: ModelAccess | None,
) -> tuple[bool, str | None]:
    """Whether the answer is right, and the answer."""
    extraction: Extraction = "local" if model is None else "llm"
    setting = Setting(extraction=extraction, gate=mode, memory=memory, model=model)
    gate = MemoryGate.open("sqlite://") if mode == "on" else None
    try:
        framework = framework_memory(conversation, setting, gate)
        try:
            for step in conversation.steps():
                framework.add(step)
            return _answered(conversation, framework.search(conversation.probe), answerer)
        finally:
            framework.close()
    finally:
        if gate is not None:
            gate.close()


def _answered(
    conversation: Conversation, found: Sequence[str], answerer: Answerer | None
) -> tuple[bool, str | None]:
    wanted = conversation.final_value or ""

    def picked() -> str | None:
        return next((text for text in found if same_value(text, wanted)), None)

    if answerer is None:
        said = picked()
        return said is not None, said
    said = answerer.answer(conversation.probe, found, picked)
    right = said is not None and answerer.same(conversation.probe, wanted, said, same_value)
    return right, said


def table(found: Sequence[UpdateAnswer], asked: AnswererFigures | None) -> Table:
    """Both shares and their paired difference, clustered by chat. `asked`: of the model that
    answered and judged, if one did."""
    theirs = {
        ("answered right", "on minus off"): "literal +9.9 [+3.1, +17.8], cautious +0.0"
        " [−4.8, +4.3], n=161"
    }
    how = (
        asked.told
        if asked is not None
        else "Right: the answer stands in what the memory's own search returns; no model asked."
    )
    return Table.build(
        "Update questions, gate on and off",
        ["gate on", "gate off", "on minus off"],
        [
            (
                "answered right",
                [
                    Proportion.of(one.on for one in found),
                    Proportion.of(one.off for one in found),
                    paired_difference((one.chat, one.on, one.off) for one in found),
                ],
            )
        ],
        note=how + " Intervals: Wilson; difference in points: bootstrap over chats.",
        theirs=theirs,
    )
