"""What a turn and a minute may cost, and what is not asked twice."""

from __future__ import annotations

import pytest

from memgate_core.errors import ConfigurationError
from memgate_core.judgement.budget import Budget, BudgetSpentError
from memgate_core.judgement.cache import AnswerCache, key_of
from memgate_core.judgement.inquiry import Passage, Row, RowFinding
from memgate_core.model import EvidenceType

FINDING = RowFinding(probabilities=dict.fromkeys(EvidenceType, 0.25))


class Seconds:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_turn_gets_its_calls_and_no_more() -> None:
    budget = Budget(per_turn=2)
    budget.admit(0)
    budget.admit(1)
    with pytest.raises(BudgetSpentError, match="2 calls a turn"):
        budget.admit(2)


def test_a_minute_gets_its_calls_and_the_next_one_too() -> None:
    clock = Seconds()
    budget = Budget(per_turn=9, per_minute=2, clock=clock)
    budget.admit(0)
    clock.now = 30
    budget.admit(0)
    with pytest.raises(BudgetSpentError, match="2 calls a minute"):
        budget.admit(0)
    clock.now = 60
    budget.admit(0)
    with pytest.raises(BudgetSpentError):
        budget.admit(0)


def test_a_negative_budget_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        Budget(per_turn=-1)


def test_the_least_recently_used_answer_makes_room() -> None:
    cache = AnswerCache(2)
    for key in ("a", "b"):
        cache.put(key, FINDING)
    assert cache.get("a") is FINDING
    cache.put("c", FINDING)
    assert cache.get("b") is None
    assert cache.get("a") is cache.get("c") is FINDING
    assert (cache.hits, cache.misses) == (3, 1)


def test_a_cache_of_none_keeps_none() -> None:
    cache = AnswerCache(0)
    cache.put("a", FINDING)
    assert cache.get("a") is None


def test_a_key_depends_on_the_whole_question_and_on_who_is_asked() -> None:
    row = Row(passage=Passage(message="I might move"), words="I might move")
    other = row.model_copy(update={"passage": Passage(message="I might move, you know")})
    keys = {key_of("m", row), key_of("n", row), key_of("m", other), key_of("m", row, "fields")}
    assert len(keys) == 4
    assert "move" not in "".join(keys)
