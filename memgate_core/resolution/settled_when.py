"""The two conditions of a held item, in plain words: good for a person and for a checking model.

Written at hold time, so that nobody has to read the plan again later (paper section 3 and A.6).
Each says what is enough and, just as plainly, what is not.
"""

from __future__ import annotations

from memgate_core.model import USER_ENTITY, Candidate


def promote_when(realised: str, candidate: Candidate) -> str:
    """When the held item becomes a fact."""
    who = _who(candidate)
    return (
        f'The user says that this has really happened or holds by now, of {who}: "{realised}".'
        " Taking it for granted in passing counts too, when the user speaks of it as part of life"
        " now. Not enough: that it is still planned, likely, agreed, booked, ordered or being"
        " prepared; a wish or a question; a trial or a comparison; a bare yes to something else;"
        f" the same done by anyone but {who}; words of the assistant, a tool or a document."
    )


def discard_when(realised: str, candidate: Candidate) -> str:
    """When the held item is dropped."""
    who = _who(candidate)
    return (
        f'The user says that it will not come to this, of {who}: "{realised}".'
        " That is, it was decided"
        " against, cancelled, refused or fell through, or another choice was made in its place, or"
        " everything stays as it was. Not enough: a delay or a new date, doubts or complaints about"
        " it, not having got round to it yet, or saying nothing of it."
    )


def _who(candidate: Candidate) -> str:
    return "the user" if candidate.entity == USER_ENTITY else candidate.entity
