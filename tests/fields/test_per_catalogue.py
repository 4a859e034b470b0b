"""What is made of a set of fields is made once for it."""

from __future__ import annotations

import pytest

from memgate_core.judgement.matching import LocalMatcher
from memgate_core.judgement.reading import LocalFieldReader
from memgate_core.model import FieldSpec
from memgate_core.per_catalogue import Fields, per_catalogue


def fields(*names: str) -> Fields:
    return tuple(FieldSpec(attribute=name, description=f"the user's {name}") for name in names)


class Made:
    """Makes the names of a set of fields, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.of: list[Fields] = []

    def __call__(self, given: Fields) -> list[str]:
        self.of.append(given)
        return [field.attribute for field in given]


@pytest.fixture
def make() -> Made:
    return Made()


def test_the_same_and_equal_sets_are_asked_for_once(make: Made) -> None:
    names = per_catalogue(make)
    mine = fields("city", "car")
    found = names(mine)
    assert found == ["city", "car"]
    assert names(mine) is names(fields("city", "car")) is names(list(mine)) is found
    assert len(make.of) == 1


def test_other_sets_are_told_apart(make: Made) -> None:
    names = per_catalogue(make)
    for number in range(200):
        assert names(fields(f"field_{number}")) == [f"field_{number}"]
    assert names(fields("city", "car")) != names(fields("car", "city"))
    assert len(make.of) == 202


def test_a_list_that_grows_is_another_set(make: Made) -> None:
    names = per_catalogue(make)
    growing = list(fields("city"))
    assert names(growing) == ["city"]
    growing += fields("car")
    assert names(growing) == ["city", "car"]


def test_every_gate_of_a_process_shares_the_vectors_of_its_fields() -> None:
    mine = fields("city", "car")
    of_matcher = LocalMatcher()._vectors.slots(mine)
    assert LocalFieldReader()._vectors.slots(list(mine)) is of_matcher
    assert of_matcher.shape == (2, 384)
