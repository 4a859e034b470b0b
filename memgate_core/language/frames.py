"""Plan-framed attribute names brought back to the slot they speak of (paper section 4).

A cautious extractor writes grocery_plan, conditional_bag_interest, vet_change_consideration. The
paper strips plan phrases once and asks the matcher again; here the words are stripped in two
steps, strong frames first, so that the least change that matches wins.
"""

from __future__ import annotations

import re

from memgate_core.language.tokens import fold
from memgate_core.language.words import word_set

_STRONG = word_set(
    "plan plans planned planning prospective potential possible possibly considered considering"
    " consideration considerations conditional conditionally interest interests interested"
    " intended intention intentions intent upcoming future proposed tentative tentatively candidate"
    " undecided consider contemplated contemplating hoped hopeful wish wished wishlist pending"
    " thinking maybe hypothetical likely expected scheduled eventual eventually aspirational"
    " aspiration aspirations anticipated desired exploring exploration explored shortlist"
    " shortlisted speculative uncertain undetermined unconfirmed provisional might may could"
    " want wants wanted thought thoughts deliberation dilemma leaning inclination temptation"
    " option options idea ideas ambition ambitions goal goals"
)
_WEAK = word_set(
    "change changes changing switch switching switchover replacement replacing replace swap"
    " swapping new next decision upgrade upgrading transition target alternative trial purchase"
    " purchasing buying acquisition adoption choice move if when current currently main primary"
    " usual preferred favorite favourite default today latest updated recent"
)
_WORDS = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OWNERS = word_set("user users s my the a an their his her of for to is has")


def attribute_words(name: str) -> tuple[str, ...]:
    """The words of an attribute name, folded: "homeCity", "Home city", "user's_home_city"."""
    spaced = _CAMEL.sub(" ", name.replace("'", " ").replace("’", " "))
    words = [fold(word) for word in _WORDS.findall(spaced)]
    kept = [word for word in words if word not in _OWNERS]
    return tuple(kept or words)


def unframed(name: str) -> tuple[str, ...]:
    """The names left when plan words are taken out, the least changed first; () when none are in.

    >>> unframed("grocery_change_plan")
    ('grocery_change', 'grocery')
    """
    words = attribute_words(name)
    steps = ([w for w in words if w not in _STRONG], [w for w in words if w not in _STRONG | _WEAK])
    names = ("_".join(step) for step in steps if step and tuple(step) != words)
    return tuple(dict.fromkeys(names))


def is_framed(name: str) -> bool:
    """True when the attribute name itself says that its value is only planned."""
    return any(word in _STRONG for word in attribute_words(name))
