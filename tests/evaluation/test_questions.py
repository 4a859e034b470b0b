"""With a model at hand: its equivalence judge, the direct questions, the stability of its answers.

The model is recorded at the HTTP boundary; everything on this side of it is the real thing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.asker import Asker
from evaluation.equivalence import Equivalence
from evaluation.judge import Compared, Judge
from evaluation.plans.setting import ModelAccess
from evaluation.questions.compare import comparison
from evaluation.questions.material import Asked, drawn, of_conversations, of_lines
from evaluation.questions.put import Questioner, Reading
from evaluation.questions.stability import stability
from evaluation.statements.format import StatementLine
from memgate_core.errors import ModelFaultError
from memgate_core.model import Statement
from tests.cli.conftest import Run, run
from tests.evaluation.conversations import city, conversation
from tests.evaluation.recorded_model import RecordedModel, recorded_model

__all__ = ["run"]

PROBE = "Which city does the user live in?"


@pytest.fixture
def model() -> Iterator[RecordedModel]:
    with recorded_model() as running:
        yield running


def access(model: RecordedModel) -> ModelAccess:
    return ModelAccess(url=model.url, name="recorded")


def asked(name: str, *, updates: bool, group: str = "g") -> Asked:
    words = f"words of {name}"
    return Asked(
        id=name,
        cluster=name,
        group=group,
        statement=Statement(text=words, message=words),
        updates=updates,
    )


def reading(kind: str, evidence: float, true_now: float = 0.5, store: float = 0.5) -> Reading:
    return Reading(evidence_type=kind, evidence=evidence, true_now=true_now, store=store)


# --- the equivalence judge -----------------------------------------------------------------------


def test_each_pair_is_judged_once_and_set_beside_the_fixed_function(model: RecordedModel) -> None:
    equivalence = Equivalence(Judge(access(model)))
    same = equivalence.of(PROBE)
    assert same("York", " york ") is True  # the same letters: no question
    assert [same("considering York", "York") for _ in range(3)] == [False] * 3
    assert same("York, since May", "York") is True
    found = equivalence.figures()
    assert (found.name, found.calls, found.pairs, found.failed) == ("recorded", 2, 2, 0)
    assert (found.agree.successes, found.agree.n) == (1, 2)
    assert (found.stricter.successes, found.stricter.n) == (1, 1)
    (first, _) = equivalence.verdicts()
    assert (first.judge, first.containment) == (False, True)


def test_a_judge_that_fails_once_is_asked_again(model: RecordedModel) -> None:
    model.fails = lambda _form, number: number == 1
    equivalence = Equivalence(Judge(access(model)))
    assert equivalence.of(PROBE)("considering York", "York") is False
    assert (equivalence.figures().calls, equivalence.figures().failed) == (2, 0)


def test_a_judge_that_keeps_failing_is_given_up_and_never_guessed(model: RecordedModel) -> None:
    model.fails = lambda _form, _number: True
    equivalence = Equivalence(Judge(access(model)))
    same = equivalence.of(PROBE)
    assert same("considering York", "York") is True  # the fixed function's word
    assert equivalence.figures().failed == 1
    same("Hull", "York")
    with pytest.raises(ModelFaultError):
        same("Leeds", "York")


def test_what_a_models_client_raises_is_a_model_fault() -> None:
    nobody = ModelAccess(url="http://127.0.0.1:9/v1", name="nobody")
    with pytest.raises(ModelFaultError):
        Asker(nobody).ask("x", {}, Compared)


# --- what is asked about -------------------------------------------------------------------------


def test_plans_and_outcomes_are_asked_about_without_their_labels() -> None:
    told = [conversation(outcome, id=f"c-{outcome}") for outcome in ("came_true", "abandoned")]
    found = list(of_conversations(told))
    assert [(one.cluster, one.group, one.updates) for one in found] == [
        ("c-came_true", "plan", False),
        ("c-came_true", "outcome, came_true", True),
        ("c-abandoned", "plan", False),
        ("c-abandoned", "outcome, abandoned", False),
    ]
    plan = found[0].statement
    assert (plan.text, plan.history[-1].content) == ("I might move to York", "Good to know.")


def test_the_words_are_those_of_the_recorded_extraction() -> None:
    told = conversation("completed")
    turn = told.sessions[1].turns[0]
    turn.content = "Boxes everywhere. I moved to York. Tea?"
    span = city("York", span="I moved to York.")
    told.sessions[1].turns[0] = turn.model_validate(
        {**turn.model_dump(), "extractions": {"literal": [span]}}
    )
    (found,) = of_conversations([told])
    assert (found.statement.text, found.statement.start) == ("I moved to York.", 18)


def test_labelled_statements_say_whether_the_profile_changes() -> None:
    lines = [
        StatementLine.model_validate({"id": label, "text": "words", "label": label})
        for label in ("speculation", "completed_event", "correction", "other")
    ]
    unlabelled = StatementLine(id="x", text="words")
    found = list(of_lines([*lines, unlabelled]))
    assert [one.updates for one in found] == [False, True, True, False]


def test_a_sample_is_even_small_and_the_same_again() -> None:
    many = [asked(f"s{number:03}", updates=False) for number in range(300)]
    first, again = drawn(many, 40), drawn(many, 40)
    assert [one.id for one in first] == [one.id for one in again]
    assert (len(first), len({one.id for one in first})) == (40, 40)
    assert 8 <= sum(one.id < "s100" for one in first) <= 19
    assert drawn(many[:3], 40) == many[:3]


# --- what comes of the answers -------------------------------------------------------------------


def test_evidence_types_are_ranked_against_direct_questions() -> None:
    pairs = [
        (asked("a", updates=True), reading("completed_event", 0.9, true_now=0.6)),
        (asked("b", updates=True), reading("completed_event", 0.8, true_now=0.4)),
        (asked("c", updates=False), reading("speculation", 0.1, true_now=0.5)),
        (asked("d", updates=False), reading("other", 0.2, true_now=0.5)),
        (asked("e", updates=False), Reading(evidence_type="other", evidence=0.9)),
    ]
    found = comparison(pairs)
    assert (found.n, found.updating) == (4, 2)  # the one without an answer is left out of all
    assert {name: area.value for name, area in found.areas.items()} == {
        "evidence": 1.0,
        "true_now": 0.5,
        "store": 0.5,
    }
    assert {name: area.value for name, area in found.ahead.items()} == {
        "true_now": 0.5,
        "store": 0.5,
    }


def test_stability_counts_labels_and_scores_over_runs() -> None:
    statements = [
        asked("a", updates=True, group="plan"),
        asked("b", updates=False, group="plan"),
        asked("c", updates=False, group="told"),
        asked("d", updates=False, group="told"),
    ]
    event, other = reading("completed_event", 0.9), reading("other", 0.1)
    lost = Reading(evidence_type=None, evidence=None)
    runs = [
        [event, other, event, other],
        [event, other, other, lost],
        [event, other, other, other],
    ]
    found = stability(statements, runs)
    assert (found.n, found.same.successes, found.majority_is_first.successes) == (3, 2, 2)
    assert found.same_by_group["plan"].rate == 1.0
    assert found.same_by_group["told"].successes == 0
    assert found.deviation_median == 0.0
    assert found.deviation_mean == pytest.approx((0.8 * (2 / 9) ** 0.5) / 3)
    assert found.areas == [0.75, 1.0, 1.0]


def test_a_repeated_run_is_asked_anew(model: RecordedModel) -> None:
    model.wavers = lambda number: number % 2 == 0
    questioner = Questioner(access(model))
    one = asked("a", updates=False)
    assert [questioner.typed(one).evidence_type for _ in range(4)] == ["other"] * 4
    assert sum(model.asked.values()) == 4
    plan = one.model_copy(
        update={"statement": Statement(text="I might move", message="I might move")}
    )
    assert [questioner.typed(plan).evidence_type for _ in range(2)] == ["speculation", "other"]


def test_a_model_that_cannot_be_reached_is_no_figure() -> None:
    questioner = Questioner(ModelAccess(url="http://127.0.0.1:9/v1", name="nobody"))
    one = asked("a", updates=False)
    assert questioner.read(one).evidence is None
    with pytest.raises(ModelFaultError):
        questioner.read(one)


# --- the commands --------------------------------------------------------------------------------


@pytest.fixture
def conversations(tmp_path: Path) -> Path:
    path = tmp_path / "conversations.jsonl"
    outcomes = ("came_true", "open", "abandoned", "completed")
    made = [conversation(outcome, id=f"c-{outcome}") for outcome in outcomes]
    path.write_text("".join(one.model_dump_json() + "\n" for one in made), encoding="utf-8")
    return path


def test_bench_plans_asks_the_model_at_hand(
    run: Run, model: RecordedModel, conversations: Path, tmp_path: Path
) -> None:
    figures, page = tmp_path / "plans.json", tmp_path / "plans.html"
    done = run(
        "bench", "plans", "--data", str(conversations), "--pipelines", "main",
        "--llm", model.url, "--repeats", "3", "--json", str(figures), "--html", str(page),
    )  # fmt: skip
    assert done.status == 0, done.err
    for title in (
        "Equivalence judge default against normalised containment",
        "Evidence type against direct questions",
        "Stability over 3 runs",
        "(values judged by default)",
    ):
        assert title in done.out
        assert title in page.read_text(encoding="utf-8")
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert found["questions"]["comparison"]["n"] == 6
    assert found["questions"]["comparison"]["updating"] == 2
    assert found["questions"]["stability"]["same"]["n"] == 6
    assert found["judge"]["failed"] == 0
    assert set(found["judged_scores"]) == set(found["scores"])
    assert "88.3% n=163, five runs" in done.out  # the paper's, beside ours


def test_with_extract_the_model_reads_the_turns_once_for_all_pipelines(
    run: Run, model: RecordedModel, conversations: Path
) -> None:
    done = run(
        "bench", "plans", "--data", str(conversations), "--llm", model.url, "--extract",
        "--pipelines", "literal ungated,literal gated,cautious ungated", "--repeats", "2",
    )  # fmt: skip
    assert done.status == 0, done.err
    different_turns = 5  # all four begin alike, and two of them end alike
    assert model.asked["Extractions"] == 2 * different_turns  # once a style, not once a pipeline
    alone = run("bench", "plans", "--data", str(conversations), "--extract")
    assert alone.status == 2
    assert "--llm URL" in alone.err


def test_bench_statements_asks_the_model_at_hand(
    run: Run, model: RecordedModel, tmp_path: Path
) -> None:
    path = tmp_path / "statements.jsonl"
    rows = [
        {"id": "s1", "text": "I might move to Seattle", "label": "speculation"},
        {"id": "s2", "text": "I sold the piano yesterday", "label": "completed_event"},
        {"id": "s3", "text": "Thanks, that helps", "label": "other"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = run("bench", "statements", "--data", str(path), "--llm", model.url, "--repeats", "2")
    assert done.status == 0, done.err
    assert "Evidence type against direct questions" in done.out
    assert model.asked["Probability"] == 6
    assert not any("label" in one for one in model.materials["Probability"])


def test_a_model_that_fails_ends_the_command_with_a_reason(run: Run, conversations: Path) -> None:
    done = run(
        "bench", "plans", "--data", str(conversations), "--pipelines", "literal ungated",
        "--llm", "http://127.0.0.1:9/v1",
    )  # fmt: skip
    assert done.status == 1
    assert "model" in done.err
