"""The plan-frame retry by itself: an attribute named after a plan, with it and without it."""

from __future__ import annotations

import pytest

from evaluation.plans.format import Conversation
from evaluation.plans.pipeline import trace_of
from evaluation.plans.run import pipeline_for
from evaluation.plans.score import Score, score
from evaluation.plans.setting import Setting, standard
from tests.evaluation.conversations import answered, conversation, said

STANDARD = {setting.name: setting for setting in standard()}
VET = {"attribute": "vet", "description": "the vet the user's animals go to"}


@pytest.fixture(scope="module")
def told() -> Conversation:
    """A vet, and a plan for another one under a name that says it is only a plan."""
    words = "I might switch to Ashgrove Vets in spring."
    found = {"attribute": "vet_change_consideration", "value": "Ashgrove Vets"}
    plan = {**found, "entity": "user", "text": "User might switch to Ashgrove Vets"}
    now = {"entity": "user", "attribute": "vet", "value": "Brookside Vets"}
    return conversation(
        "open",
        field=VET,
        initial_value="Brookside Vets",
        plan_value="Ashgrove Vets",
        final_value="Brookside Vets",
        sessions=[
            {
                "date": "2025-01-10T10:00:00Z",
                "turns": [
                    said("Our vet is Brookside Vets.", "state", {**now, "text": "Brookside Vets"}),
                    answered("Noted."),
                    said(words, "plan", plan),
                    answered("Good luck."),
                ],
            }
        ],
    )


def found(told: Conversation, name: str) -> Score:
    """The conversation under a standard pipeline."""
    return score(told, trace_of(told, pipeline_for(told, STANDARD[name])))


def test_gated_the_retry_is_what_finds_the_plans_field(told: Conversation) -> None:
    assert found(told, "cautious gated names with-retry").staged is True
    assert found(told, "cautious gated names no-retry").staged is False


def test_ungated_the_retry_writes_the_plan_as_a_fact(told: Conversation) -> None:
    assert found(told, "cautious ungated names with-retry").pending_contaminated is True
    assert found(told, "cautious ungated names no-retry").pending_contaminated is False


@pytest.mark.parametrize("style", ["cautious", "literal"])
@pytest.mark.parametrize("gate", ["gated", "ungated"])
def test_the_pair_differs_in_the_retry_alone(style: str, gate: str) -> None:
    with_it = STANDARD[f"{style} {gate} names with-retry"]
    without = STANDARD[f"{style} {gate} names no-retry"]
    assert _apart_from_the_matcher(with_it) == _apart_from_the_matcher(without)
    assert (with_it.matcher, without.matcher) == ("names", "names_no_retry")


def _apart_from_the_matcher(setting: Setting) -> dict[str, object]:
    return setting.model_dump(exclude={"name", "matcher"})
