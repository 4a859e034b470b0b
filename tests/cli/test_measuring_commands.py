"""classify, run and bench through the real local judges, on small files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.evaluation.conversations import conversation
from tests.evaluation.recorded_model import recorded_model


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def statements(tmp_path: Path) -> Path:
    path = tmp_path / "statements.jsonl"
    rows = [
        {"id": "s1", "text": "I might move to Seattle", "label": "speculation"},
        {"id": "s2", "text": "I sold the piano yesterday", "label": "completed_event"},
        {"id": "s3", "text": "Thanks, that helps", "label": "other"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def conversations(tmp_path: Path) -> Path:
    path = tmp_path / "conversations.jsonl"
    made = [conversation(outcome, id=f"c-{outcome}") for outcome in ("came_true", "open")]
    path.write_text("".join(one.model_dump_json() + "\n" for one in made), encoding="utf-8")
    return path


def test_classify_writes_the_documented_form(run: Run, statements: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert run("classify", "--in", str(statements), "--out", str(out)).status == 0
    first, *rest = lines_of(out)
    assert [first["id"], *(one["id"] for one in rest)] == ["s1", "s2", "s3"]
    assert set(first) == {"id", "evidence_type", "probabilities", "cues", "model_calls"}
    assert first["evidence_type"] == max(first["probabilities"], key=first["probabilities"].get)
    assert sum(first["probabilities"].values()) == pytest.approx(1.0, abs=1e-3)
    assert first["model_calls"] == 0


def test_nothing_is_written_from_a_malformed_line_on(
    run: Run, statements: Path, tmp_path: Path
) -> None:
    with statements.open("a", encoding="utf-8") as file:
        file.write('{"id": "s4"}\n{"id": "s5", "text": "I left"}\n')
    out = tmp_path / "out.jsonl"
    refused = run("classify", "--in", str(statements), "--out", str(out))
    assert refused.status == 2
    assert f"{statements}:4: text" in refused.err
    assert [one["id"] for one in lines_of(out)] == ["s1", "s2", "s3"]


def test_run_writes_a_line_a_user_turn_and_one_at_the_end(
    run: Run, conversations: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.jsonl"
    assert run("run", "--in", str(conversations), "--trace", str(trace)).status == 0
    lines = [one for one in lines_of(trace) if one["id"] == "c-came_true"]
    assert [one.get("turn") for one in lines] == [0, 2, 4, None]
    assert set(lines[-1]["final"]) == {"answer", "staged_pending"}
    plan = lines[1]
    assert {"decisions", "resolutions", "current", "staged", "model_calls", "gate_ms"} <= set(plan)
    assert all(len(one["span"]) == 2 for one in plan["decisions"])
    assert any(one["value"] == "York" for one in plan["decisions"])
    assert plan["current"].get("home_city", {"value": "Leeds"})["value"] == "Leeds"
    assert [one["status"] for one in plan["staged"]] == ["PENDING"] * len(plan["staged"])


def test_the_same_ledger_twice_changes_nothing(
    run: Run, conversations: Path, tmp_path: Path
) -> None:
    traces = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for trace in traces:
        command = ("run", "--in", str(conversations), "--trace", str(trace))
        assert run(*command, "--ledger", "sqlite:///shared.db").status == 0
    final = [[one for one in lines_of(trace) if "final" in one] for trace in traces]
    assert final[0] == final[1]


@pytest.mark.parametrize("gate", ["off", "plan-typed"])
def test_the_baselines_write_the_same_form(
    run: Run, conversations: Path, tmp_path: Path, gate: str
) -> None:
    trace = tmp_path / "trace.jsonl"
    command = ("run", "--in", str(conversations), "--trace", str(trace), "--gate", gate)
    assert run(*command).status == 0
    values = [
        one["current"]["home_city"]["value"]
        for one in lines_of(trace)
        if one["id"] == "c-open" and "turn" in one
    ]
    assert values == (["Leeds", "York", "York"] if gate == "off" else ["Leeds", "Leeds", "Leeds"])


def test_a_bad_turn_stops_before_its_conversation(
    run: Run, conversations: Path, tmp_path: Path
) -> None:
    bad = json.loads(conversations.read_text(encoding="utf-8").splitlines()[0])
    bad["id"], bad["sessions"][1]["turns"][0]["content"] = "c-bad", " "
    with conversations.open("a", encoding="utf-8") as file:
        file.write(json.dumps(bad) + "\n")
    trace = tmp_path / "trace.jsonl"
    refused = run("run", "--in", str(conversations), "--trace", str(trace))
    assert refused.status == 2
    assert ":3: sessions.1.turns.0.content" in refused.err
    assert {one["id"] for one in lines_of(trace)} == {"c-came_true", "c-open"}


@pytest.mark.parametrize("command", [("run", "--trace"), ("classify", "--out")])
def test_an_input_that_is_not_there_costs_no_earlier_output(
    run: Run, tmp_path: Path, command: tuple[str, str]
) -> None:
    name, option = command
    earlier = tmp_path / "earlier.jsonl"
    earlier.write_text("kept\n", encoding="utf-8")
    refused = run(name, "--in", str(tmp_path / "none.jsonl"), option, str(earlier))
    assert refused.status == 2
    assert "none.jsonl" in refused.err
    assert earlier.read_text(encoding="utf-8") == "kept\n"


def test_an_id_that_cannot_be_stored_is_named_with_its_line(
    run: Run, conversations: Path, tmp_path: Path
) -> None:
    bad = json.loads(conversations.read_text(encoding="utf-8").splitlines()[0])
    bad["id"] = "c\x00"
    with conversations.open("a", encoding="utf-8") as file:
        file.write(json.dumps(bad) + "\n")
    refused = run("run", "--in", str(conversations), "--trace", str(tmp_path / "trace.jsonl"))
    assert refused.status == 2
    assert f"{conversations}:3: id" in refused.err


def test_bench_plans_scores_and_reports(run: Run, conversations: Path, tmp_path: Path) -> None:
    figures, page = tmp_path / "plans.json", tmp_path / "plans.html"
    done = run(
        "bench", "plans", "--data", str(conversations), "--pipelines", "main",
        "--json", str(figures), "--html", str(page),
    )  # fmt: skip
    assert done.status == 0
    assert "Table 2. Contamination" in done.out
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert found["conversations"] == 2
    assert [one["pending_contaminated"] for one in found["scores"]["literal ungated"]] == [
        None,
        True,
    ]
    assert [one["pending_contaminated"] for one in found["scores"]["literal gated"]] == [
        None,
        False,
    ]
    assert "<svg" in page.read_text(encoding="utf-8") or "Figure" not in done.out


def test_bench_needs_labels_and_says_which(run: Run, conversations: Path, tmp_path: Path) -> None:
    plain = json.loads(conversations.read_text(encoding="utf-8").splitlines()[0])
    del plain["outcome"]
    path = tmp_path / "plain.jsonl"
    path.write_text(json.dumps(plain) + "\n", encoding="utf-8")
    refused = run("bench", "plans", "--data", str(path))
    assert refused.status == 2
    assert ":1: outcome" in refused.err
    assert run("bench", "plans", "--data", str(path), "--pipelines", "best").status == 2


def test_bench_statements_prints_and_writes(run: Run, statements: Path, tmp_path: Path) -> None:
    figures = tmp_path / "statements.json"
    done = run("bench", "statements", "--data", str(statements), "--json", str(figures))
    assert done.status == 0
    assert "Table 8" in done.out
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert found["n"] == 3
    assert found["classes"]["speculation"]["support"] == 1
    assert sum(sum(row.values()) for row in found["confusion"].values()) == 3
    assert found["milliseconds"]["p50"] > 0


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    field = {"attribute": "home_city", "description": "the city or town where the user lives"}
    made = [
        {
            "id": "a1", "category": "plan", "turn": {"role": "user", "content": "I might move to York."},
            "field": field, "known": "Leeds", "expect": "hold", "value": "York",
            "never_current": ["York"],
        },
        {
            "id": "a2", "category": "tool_output",
            "turn": {"role": "tool", "content": "The user lives in Hull."},
            "field": field, "known": "Leeds", "expect": "reject", "never_current": ["Hull"],
        },
    ]  # fmt: skip
    path.write_text("".join(json.dumps(one) + "\n" for one in made), encoding="utf-8")
    return path


def test_bench_acceptance_traces_each_case(run: Run, cases: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    done = run("bench", "acceptance", "--data", str(cases), "--trace", str(trace))
    assert done.status == 0
    assert "false_commit_rate" in done.out
    assert [one["current"] for one in lines_of(trace)] == ["Leeds", "Leeds"]
    assert set(lines_of(trace)[0]) == {"id", "decision", "value", "current", "reason"}


@pytest.mark.parametrize("classifier", ["llm", "cascade"])
def test_bench_acceptance_asks_the_model_that_is_named(
    classifier: str, run: Run, cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "trace.jsonl"
    command = ("bench", "acceptance", "--data", str(cases), "--trace", str(trace))
    with recorded_model() as model:
        done = run(*command, "--classifier", classifier, "--llm", model.url)
        assert done.status == 0, done.err
        assert [one["decision"] for one in lines_of(trace)] == ["hold", "reject"]
        asked = sum(model.asked.values())
        monkeypatch.setenv("MEMGATE_MODEL__URL", model.url)
        assert run(*command, "--classifier", classifier).status == 0
        assert sum(model.asked.values()) == 2 * asked
        assert asked or classifier == "cascade"


def test_bench_acceptance_says_that_a_model_is_missing_or_not_asked(run: Run, cases: Path) -> None:
    command = ("bench", "acceptance", "--data", str(cases))
    missing = run(*command, "--classifier", "llm")
    assert missing.status == 2
    assert "needs a model" in missing.err
    idle = run(*command, "--llm", "http://127.0.0.1:9/v1")
    assert idle.status == 2
    assert "asks no model" in idle.err


def test_the_command_line_is_quick_to_ask_for_help() -> None:
    import subprocess
    import sys

    program = (
        "import sys; from memgate_core.cli.main import status_of; status_of(['--help']);"
        "heavy = {'sqlalchemy', 'onnxruntime', 'numpy', 'mem0', 'pydantic_settings', 'evaluation'};"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
