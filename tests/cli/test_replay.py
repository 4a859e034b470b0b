"""`memgate replay`: another extractor and another judge over the recorded messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.backends.service import Answer, Service, running
from tests.cli.conftest import Run

pytestmark = pytest.mark.usefixtures("life")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A model that takes whatever is named for the city, and judges as the script says."""
    with running() as service:
        monkeypatch.setenv("MEMGATE_MODEL__URL", service.url)
        monkeypatch.setenv("MEMGATE_MODEL__NAME", "m")
        service.reply = _extracting
        yield service


def _extracting(asked: dict[str, Any]) -> Answer:
    text = str(asked["messages"][-1]["content"])
    material, _end = json.JSONDecoder().raw_decode(text[text.index("{") :])
    if "message" not in material:
        return Answer()
    said = {"attribute": "home_city", "value": "Acme", "text": "lives in Acme"}
    found = [{**said, "span": material["message"]}] if "Acme" in material["message"] else []
    return Answer(content=json.dumps({"extractions": found}))


def changes(found: Any) -> set[tuple[str, str | None, str | None]]:
    return {
        (change["value"], change["before"], change["after"])
        for turn in found["differences"]
        for change in turn["changes"]
    }


def test_another_extractor_shows_what_it_would_propose(
    run: Run, model: Service, life: Path
) -> None:
    before = life.read_bytes()
    ran = run(
        *("replay", "--extractor", "llm:literal", "--classifier", "cascade"),
        *("--user", "ana", "--json"),
    )
    assert ran.status == 0, ran.err
    assert ran.json["summary"]["turns"] == 3
    assert changes(ran.json) == {("Acme", None, "COMMIT")}
    assert model.bodies
    assert life.read_bytes() == before


def test_a_replay_reads_anew_without_a_model(run: Run) -> None:
    ran = run("replay", "--extractor", "local", "--classifier", "local", "--json")
    assert ran.status == 0, ran.err
    assert ran.json["summary"]["turns"] == 4


def test_an_extractor_that_is_a_model_needs_one(run: Run) -> None:
    ran = run("replay", "--extractor", "llm:cautious")
    assert ran.status == 2
    assert "needs a model" in ran.err
    assert run("replay", "--extractor", "nobody").status == 2
