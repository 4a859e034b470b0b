"""Questions about what changed, from an imported file to a paired difference."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from pathlib import Path

import pytest

from evaluation.updates.run import UpdateAnswer, table
from tests.cli.conftest import Run, run
from tests.evaluation.conversations import conversation
from tests.evaluation.recorded_products import recorded_service
from tests.support.needs import needs

__all__ = ["run"]

CHAT = [
    {
        "question_id": "q-1",
        "question_type": "knowledge-update",
        "question": "Where do I live?",
        "answer": "Ely",
        "haystack_dates": ["2023/04/10 (Mon) 17:50", "2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [
            [{"role": "user", "content": "I live in York."}],
            [{"role": "user", "content": "I moved to Ely yesterday.", "has_answer": True}],
        ],
    }
]


@pytest.fixture
def questions(run: Run, tmp_path: Path) -> Path:
    source, path = tmp_path / "chat.json", tmp_path / "questions.jsonl"
    source.write_text(json.dumps(CHAT), encoding="utf-8")
    done = run("import", "longmemeval", "--in", str(source), "--questions", str(path))
    assert done.status == 0, done.err
    return path


def test_a_change_is_answered_with_the_gate_on_and_off(
    run: Run, questions: Path, tmp_path: Path
) -> None:
    needs("mem0")
    figures = tmp_path / "updates.json"
    done = run("bench", "updates", "--data", str(questions), "--json", str(figures))
    assert done.status == 0, done.err
    found = json.loads(figures.read_text(encoding="utf-8"))
    (row,) = found["rows"]
    assert [cell["successes"] for cell in row["cells"][:2]] == [1, 1]
    assert "literal +9.9" in done.out
    (score,) = found["scores"]
    assert (score["id"], score["on"], score["off"]) == ("q-1", True, True)
    assert "Ely" in score["said_on"]
    assert "Ely" in score["said_off"]
    assert found["data_sha256"] == hashlib.sha256(questions.read_bytes()).hexdigest()
    assert found["libraries"]["mem0ai"] == version("mem0ai")
    assert found["answerer"] is None


def test_with_a_model_it_extracts_answers_and_judges(run: Run, tmp_path: Path) -> None:
    needs("mem0")
    told, path = conversation("completed"), tmp_path / "questions.jsonl"
    path.write_text(told.model_dump_json() + "\n", encoding="utf-8")
    with recorded_service(told) as service:
        done = run("bench", "updates", "--data", str(path), "--llm", service.url)
    assert done.status == 0, done.err
    assert "Answered and judged by default" in done.out
    assert {"mem0", "Answered", "Compared"} == set(service.forms)


def test_one_bad_answer_of_a_model_costs_no_run(run: Run, tmp_path: Path) -> None:
    needs("mem0")
    told, path = conversation("completed"), tmp_path / "questions.jsonl"
    figures = tmp_path / "updates.json"
    path.write_text(told.model_dump_json() + "\n", encoding="utf-8")
    with recorded_service(told) as service:
        # once a judgement, which is asked for again, and twice an answer, which is passed over
        service.fails = lambda form, number: number <= {"Answered": 2, "Compared": 1}.get(form, 0)
        done = run(
            "bench", "updates", "--data", str(path), "--llm", service.url, "--json", str(figures)
        )
    assert done.status == 0, done.err
    assert "failed on 1 answers and 0 judged pairs" in done.out
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert (found["answerer"]["questions"], found["answerer"]["failed"]) == (2, 1)
    assert all(one["judge"] is True for one in found["verdicts"])
    assert [one["on"] and one["off"] for one in found["scores"]] == [True]


def test_a_model_that_fails_always_ends_the_command_with_the_reason(
    run: Run, tmp_path: Path
) -> None:
    needs("mem0")
    told, path = conversation("completed"), tmp_path / "questions.jsonl"
    path.write_text(told.model_dump_json() + "\n", encoding="utf-8")
    with recorded_service(told) as service:
        service.fails = lambda form, _number: form in ("Answered", "Compared")
        done = run("bench", "updates", "--data", str(path), "--llm", service.url)
    assert done.status == 1
    assert "the model" in done.err


@pytest.mark.parametrize("memory", ["graphiti", "langchain"])
def test_a_memory_that_would_stay_empty_is_not_measured(
    memory: str, run: Run, questions: Path
) -> None:
    done = run("bench", "updates", "--data", str(questions), "--memory", memory)
    assert done.status == 2
    assert "keeps nothing" in done.err


def test_chats_are_resampled_whole() -> None:
    found = [
        UpdateAnswer(id=f"{chat}-{n}", chat=chat, on=True, off=chat == "a")
        for chat in ("a", "b")
        for n in range(5)
    ]
    (row,) = table(found, None).rows
    difference = row.cells[2]
    assert str(difference) == "+50.0 [+0.0, +100.0] n=10"
