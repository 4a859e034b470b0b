"""Attribute names made comparable, and the paper's plan-frame retry (section 4).

A cautious extractor records a plan as a plan: `grocery_plan`, `conditional_bag_interest`. Taking
the frame off gives the slot that the plan is about. The retry is safe only because the words
themselves still go to the classifier (paper, section 6.3).
"""

from __future__ import annotations

from memgate_core.language.frames import attribute_words, is_framed, unframed

_SPELLINGS = {
    "favorite": "favourite", "color": "colour", "neighborhood": "neighbourhood",
    "organization": "organisation", "program": "programme", "center": "centre",
    "counselor": "counsellor", "tire": "tyre", "theater": "theatre",
}  # fmt: skip


def tokens(attribute: str) -> tuple[str, ...]:
    """The words of an attribute name, in one spelling: `homeCity` and "Home city" are alike."""
    return tuple(_SPELLINGS.get(word, word) for word in attribute_words(attribute))


def normalise(attribute: str) -> str:
    """The attribute in snake case, without words that only say whose it is.

    >>> normalise("User's Home City"), normalise("favoriteColor")
    ('home_city', 'favourite_colour')
    """
    return "_".join(tokens(attribute))


def plan_frame_steps(attribute: str) -> tuple[str, ...]:
    """What is left when plan words are taken out, the least changed first; () when none are in."""
    return unframed(attribute)


def without_plan_frame(attribute: str) -> str | None:
    """The attribute without its plan, interest or condition frame; None when nothing changes or
    nothing is left."""
    steps = unframed(attribute)
    return steps[-1] if steps else None


def is_plan_framed(attribute: str) -> bool:
    """True when the name itself says that the value is only a plan."""
    return is_framed(attribute) and bool(unframed(attribute))


def is_frame_alone(attribute: str) -> bool:
    """True when nothing but a plan frame is there: "plan", "interest"."""
    return is_framed(attribute) and not unframed(attribute)
