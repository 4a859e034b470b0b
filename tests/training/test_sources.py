"""The hand-written text files: what is read, and how a bad line is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.training.admission import admissions
from evaluation.training.resolutions import later_turns
from evaluation.training.source import for_test
from evaluation.training.statements import from_jsonl, natural
from memgate_core.errors import InvalidRecordError
from memgate_core.model import EvidenceType, ResolutionType, Role


def write(folder: Path, text: str, name: str = "x.txt") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_statements_keep_their_place(tmp_path: Path) -> None:
    write(tmp_path, "# c1 | chat | U | A\nU: {o} hey {s} might nap later\nA: {e} I just did\n")
    hey, nap, did = natural(tmp_path)
    assert (nap.statement.text, nap.label) == ("might nap later", EvidenceType.SPECULATION)
    assert nap.statement.message[nap.statement.start :].startswith("might nap later")
    assert did.statement.role is Role.ASSISTANT
    assert did.statement.history[0].content == "hey might nap later"
    assert hey.unit == did.unit == "x/c1"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("U: {o} hey\n", "header"),
        ("# c1 | chat\nB: {o} hey\n", "speaker"),
        ("# c1 | chat\nU: {z} hey\n", "label"),
        ("# c1 | chat\nU: hey {o} you\n", "label"),
        ("# c1 | chat\nU: {o}\n", "label"),
    ],
)
def test_a_bad_statement_line_is_named(tmp_path: Path, text: str, key: str) -> None:
    with pytest.raises(InvalidRecordError) as caught:
        list(natural(write(tmp_path, text)))
    assert caught.value.key == key
    assert caught.value.path.endswith("x.txt")


def test_jsonl_statements(tmp_path: Path) -> None:
    line = '{"id": "1", "text": "b", "message": "a b", "history": [], "label": "other"}\n'
    [item] = from_jsonl(write(tmp_path, line, "x.jsonl") / "x.jsonl", "hard")
    assert (item.statement.start, item.source) == (2, "hard")
    with pytest.raises(InvalidRecordError):
        list(from_jsonl(write(tmp_path, '{"id": "1"}\n', "y.jsonl") / "y.jsonl", "hard"))


HELD = "# r1 | streaming | what they watch | now: Netflix | plan: MUBI | text: subscribes to MUBI\n"


def test_later_turns(tmp_path: Path) -> None:
    text = HELD + "P: might switch\nv it went through\nA: did you?\no o yep\nn still thinking\n"
    first, second, third = later_turns(write(tmp_path, text))
    assert first.resolution is ResolutionType.CONFIRM
    assert (second.asked, second.turn, second.kind) == ("did you?", "yep", "o")
    assert (third.asked, third.resolution) == (None, ResolutionType.NOTHING)
    assert third.item.words == "might switch"


@pytest.mark.parametrize(
    "text", ["v too early\n", HELD + "q what\n", "# r1 | a | b\n", HELD.replace("plan:", "plans:")]
)
def test_a_bad_resolution_line_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidRecordError):
        list(later_turns(write(tmp_path, text)))


CAR = "# m1 | car | the car the user drives | known: -\n"


def test_admissions_with_history_and_roles(tmp_path: Path) -> None:
    text = (
        CAR
        + "C assistant_inference => Zoe | [U: boot space?] [A: You drive the Zoe?] correct\n"
        + "H assistant_inference => Fiat | A: You surely drive a Fiat.\n"
        + 'R tool_output ! Audi | T: {"car": ["Audi"]}\n'
    )
    yes, guess, tool = admissions(write(tmp_path, text))
    assert [turn.role for turn in yes.history] == [Role.USER, Role.ASSISTANT]
    assert (yes.text, yes.value, yes.known) == ("correct", "Zoe", None)
    assert (guess.role, guess.decision) == (Role.ASSISTANT, "hold")
    assert (tool.role, tool.text) == (Role.TOOL, '{"car": ["Audi"]}')


@pytest.mark.parametrize("text", ["C plain => a | b\n", CAR + "C plain a | b\n", "# m1 | car\n"])
def test_a_bad_admission_line_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidRecordError):
        list(admissions(write(tmp_path, text)))


def test_every_file_of_the_project_is_in_its_grammar() -> None:
    assert sum(1 for _ in natural()) > 5000
    assert sum(1 for _ in later_turns()) > 1000
    assert sum(1 for _ in admissions()) > 1000


def test_the_test_part_is_stable_and_small() -> None:
    drawn = [for_test(f"unit-{n}") for n in range(2000)]
    assert drawn == [for_test(f"unit-{n}") for n in range(2000)]
    assert 0.12 < sum(drawn) / len(drawn) < 0.18
