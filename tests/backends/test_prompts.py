"""The prompts: there, versioned, and asking for exactly the labels that are understood."""

from __future__ import annotations

import pytest

from memgate_core.errors import ConfigurationError
from memgate_core.judgement.prompts import prompt, version
from memgate_core.model import EvidenceType, ResolutionType, Standing

TASKS = [
    "frame", "classify", "standing", "match", "conditions", "check",
    "extract_literal", "extract_cautious",
]  # fmt: skip


@pytest.mark.parametrize("task", TASKS)
def test_each_task_has_its_wording(task: str) -> None:
    assert version(task) >= 1
    assert len(prompt(task).split()) > 50


@pytest.mark.parametrize(
    ("task", "labels"),
    [("classify", EvidenceType), ("standing", Standing), ("check", ResolutionType)],
)
def test_every_label_is_explained(task: str, labels: type) -> None:
    assert all(f"`{label.value}`" in prompt(task) for label in labels)  # type: ignore[attr-defined]


def test_there_is_no_prompt_for_what_nobody_asks() -> None:
    with pytest.raises(ConfigurationError):
        prompt("poem")
