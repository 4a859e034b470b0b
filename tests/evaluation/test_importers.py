"""Files of public data sets, in made-up miniature: forms are read, what is malformed is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.importers.convert import FORMS, statements, update_questions
from evaluation.jsonl import read
from evaluation.plans.format import Conversation
from evaluation.statements.format import StatementLine
from memgate_core.errors import InvalidInputError, InvalidRecordError
from tests.cli.conftest import Run, run

__all__ = ["run"]

LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Mira",
            "speaker_b": "Otto",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {
                    "speaker": "Mira",
                    "dia_id": "D1:1",
                    "text": "I keep bees. I might sell one hive.",
                },
                {"speaker": "Otto", "dia_id": "D1:2", "text": "Lovely!"},
            ],
            "session_2_date_time": "9:05 am on 2 June, 2023",
            "session_2": [{"speaker": "Mira", "dia_id": "D2:1", "text": "I sold the hive."}],
        },
        "qa": [
            {
                "question": "What did Mira do with the hive?",
                "answer": "sold it",
                "evidence": ["D1:1", "D2:1"],
                "category": 1,
            },
            {"question": "What does Mira keep?", "answer": "bees", "evidence": ["D1:1"]},
            {"question": "What is unknown?", "evidence": []},
        ],
    }
]
REALTALK = {
    "name": {"speaker_1": "Mira", "speaker_2": "Otto"},
    "session_1": [
        {
            "speaker": "Otto",
            "clean_text": "I moved to Ely",
            "date_time": "29.12.2023, 20:42:40",
            "dia_id": "D1:1",
        }
    ],
    "session_1_date_time": "29.12.2023, 20:42:40",
    "qa": [{"question": "Where does Otto live?", "answer": 7, "evidence": ["D1:1"]}],
}
LONGMEMEVAL = [
    {
        "question_id": "q-1",
        "question_type": "knowledge-update",
        "question": "Where do I live?",
        "answer": "Ely",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/04/10 (Mon) 17:50"],
        "haystack_sessions": [
            [{"role": "user", "content": "I live in Ely now.", "has_answer": True}],
            [
                {"role": "user", "content": "I live in York."},
                {"role": "assistant", "content": "Noted."},
            ],
        ],
    },
    {
        "question_id": "q-2_abs",
        "question_type": "knowledge-update",
        "question": "What is my cat's name?",
        "answer": "not said",
        "haystack_dates": [],
        "haystack_sessions": [],
    },
]


def written(tmp_path: Path, content: Any) -> Path:
    path = tmp_path / "data.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_locomo_gives_statements_and_questions_about_changes(tmp_path: Path) -> None:
    (chat,) = FORMS["locomo"](written(tmp_path, LOCOMO))
    found = list(statements(chat))
    assert [one.text for one in found][:2] == ["I keep bees.", "I might sell one hive."]
    assert found[0].message == "I keep bees. I might sell one hive."
    last = found[-1]
    assert [(h.role, h.content) for h in last.history] == [
        ("user", "I keep bees. I might sell one hive."),
        ("assistant", "Lovely!"),
    ]
    (asked,) = update_questions(chat)
    assert (asked.probe, asked.final_value) == ("What did Mira do with the hive?", "sold it")
    roles = [turn.role for session in asked.sessions for turn in session.turns]
    assert roles == ["user", "assistant", "user"]
    assert len(list(update_questions(chat, every=True))) == 2


def test_realtalk_takes_the_person_the_question_names(tmp_path: Path) -> None:
    (chat,) = FORMS["realtalk"](written(tmp_path, REALTALK))
    (asked,) = update_questions(chat, every=True)
    assert asked.sessions[0].turns[0].role == "user"
    assert asked.final_value == "7"
    assert asked.sessions[0].date.isoformat() == "2023-12-29T20:42:40+00:00"


def test_longmemeval_keeps_update_questions_and_sorts_sessions(tmp_path: Path) -> None:
    chats = list(FORMS["longmemeval"](written(tmp_path, LONGMEMEVAL)))
    (asked,) = [one for chat in chats for one in update_questions(chat)]
    assert [session.turns[0].content for session in asked.sessions] == [
        "I live in York.",
        "I live in Ely now.",
    ]
    assert "Noted." not in [one.text for one in statements(chats[0])]


@pytest.mark.parametrize(
    ("form", "content", "key"),
    [
        ("locomo", [{"sample_id": "x"}], "conversation"),
        ("locomo", [7], "record"),
        ("realtalk", {"name": {"speaker_1": "Mira"}}, "speaker_2"),
        ("longmemeval", [{"question_id": "q"}], "haystack_dates"),
        (
            "longmemeval",
            [{"question_id": "q", "haystack_dates": ["soon"], "haystack_sessions": [[]]}],
            "haystack_dates",
        ),
    ],
)
def test_what_is_malformed_is_named(tmp_path: Path, form: str, content: Any, key: str) -> None:
    with pytest.raises(InvalidRecordError) as refused:
        list(FORMS[form](written(tmp_path, content)))
    assert refused.value.key == key


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError):
        list(FORMS["locomo"](tmp_path / "none.json"))


def test_the_command_writes_both_forms(run: Run, tmp_path: Path) -> None:
    source = written(tmp_path, LOCOMO)
    told, asked = tmp_path / "statements.jsonl", tmp_path / "questions.jsonl"
    done = run(
        "import",
        "locomo",
        "--in",
        str(source),
        "--statements",
        str(told),
        "--questions",
        str(asked),
    )
    assert (done.status, done.out.strip()) == (0, "4 statements, 1 questions")
    assert len(list(read(told, StatementLine))) == 4
    ((_, question),) = read(asked, Conversation)
    assert question.model_extra == {"chat": "conv-1"}
    assert run("import", "locomo", "--in", str(source)).status == 2
