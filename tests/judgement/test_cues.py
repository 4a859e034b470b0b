"""Judgements show the words that speak for their class."""

from __future__ import annotations

import pytest

from memgate_core.judgement.cues import evidence_cues, standing_cues
from memgate_core.model import EvidenceType, Standing


@pytest.mark.parametrize(
    ("text", "evidence", "cue"),
    [
        ("we might get a boat", EvidenceType.SPECULATION, "might"),
        ("hoping to hear back tomorrow", EvidenceType.SPECULATION, "hoping"),
        ("Finally moved in last Friday", EvidenceType.COMPLETED_EVENT, "last friday"),
        ("no, I meant the other one", EvidenceType.CORRECTION, "i meant"),
        ("what's a good paint?", EvidenceType.OTHER, "what"),
    ],
)
def test_the_signal_is_among_the_cues(text: str, evidence: EvidenceType, cue: str) -> None:
    assert cue in evidence_cues(text, evidence)


def test_a_date_in_may_is_no_modal() -> None:
    assert "may" not in evidence_cues("the party is on may 3", EvidenceType.SPECULATION)


def test_cues_are_few_and_said_once() -> None:
    cues = evidence_cues("maybe maybe might could would tomorrow if soon", EvidenceType.SPECULATION)
    assert len(cues) == 4 == len(set(cues))


def test_standing_cues_name_the_other_person() -> None:
    assert "my sister" in standing_cues("my sister drives a Zoe", Standing.OTHER_PERSON)
    assert standing_cues("my sister drives a Zoe", Standing.OWN) == ()
