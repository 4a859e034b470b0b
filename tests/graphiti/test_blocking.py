"""The blocking form and the pipeline that commands and the demo stand on."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memgate_core import MemoryGate
from memgate_core.errors import ConfigurationError
from memgate_graphiti import BlockingGraphiti, graphiti_pipeline
from tests.graphiti.talk import START

pytestmark = pytest.mark.falkordb

RECORDED = [
    {
        "entity": "user",
        "attribute": "home_city",
        "value": v,
        "text": f"User lives in {v}",
        "span": s,
    }
    for v, s in (
        ("Leeds", "I live in Leeds"),
        ("Seattle", "I might move to Seattle"),
        ("Seattle", "I have moved to Seattle"),
    )
]
TURNS = ("I live in Leeds", "I might move to Seattle", "I have moved to Seattle")


def test_gated_and_as_released_side_by_side(gate: MemoryGate) -> None:
    gated = graphiti_pipeline("side", RECORDED, gate=gate)
    released = graphiti_pipeline("bare", RECORDED)
    for number, text in enumerate(TURNS[:2]):
        for pipeline in (gated, released):
            at = START + timedelta(days=number)
            pipeline.add(text, role="user", at=at, message_id=f"m{number}")
    assert released.search("where does the user live")[0] == "User lives in Seattle"
    assert gated.search("where does the user live") == ["User lives in Leeds"]
    gated.delivered()
    assert not any("Seattle" in text for text in gated.everything())
    gated.add(TURNS[2], role="user", at=START + timedelta(days=9), message_id="m9")
    assert "User lives in Seattle" in gated.search("where does the user live")
    assert "User lives in Leeds (until 2026-03-11)" in gated.everything()
    for pipeline in (gated, released):
        pipeline.close()


def test_a_rebuild_and_a_delivery_without_a_model(tmp_path: Path, gate: MemoryGate) -> None:
    with BlockingGraphiti.open(gate, folder=tmp_path / "db"):
        turn = gate.turn(TURNS[0], user_id="ana", occurred_at=START)
        gate.observe(turn, carried=False)
        assert gate.deliver()[0].delivered == 1
    with BlockingGraphiti.open(gate, folder=tmp_path / "other") as other:
        report = other.rebuild()
        assert report.current == 1
        assert other.deliver().failed == 0
        found = other.run(other.graphiti.search("where does the user live", group_ids=["ana"]))
        assert [edge.fact for edge in found] == ["User lives in Leeds"]


@pytest.mark.parametrize(
    "where", [{}, {"folder": "a", "uri": "bolt://b"}, {"uri": "http://x"}, {"uri": "nothing"}]
)
def test_a_graph_that_cannot_be_meant_is_refused(where: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError):
        BlockingGraphiti.open(**where)
