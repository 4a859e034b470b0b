"""What counts as JSON in a model's answer, and what is a fault."""

import pytest

from memgate_core.errors import ModelFaultError
from memgate_core.judgement.repair import json_object


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ({"a": 1}, {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Here you are:\n```\n{"a": [1, 2]}\n```\nAnything else?', {"a": [1, 2]}),
        ('Sure. {"a": 1}', {"a": 1}),
        ('{"a": 1,}', {"a": 1}),
        ("{'a': 'it is'}", {"a": "it is"}),
        ('<think>{"a": 9}</think>{"a": 1}', {"a": 1}),
        ('{"rows": [{"n": 1}, {"n": 2', {"rows": [{"n": 1}, {"n": 2}]}),
    ],
)
def test_small_slips_are_mended(answer: object, found: dict[str, object]) -> None:
    assert json_object(answer) == found


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "  \n",
        "I'm sorry, I can't help with that.",
        "[1, 2]",
        "42",
        None,
        7,
        "<think>{}</think>",
    ],
)
def test_what_is_no_object_is_a_fault(answer: object) -> None:
    with pytest.raises(ModelFaultError):
        json_object(answer)
