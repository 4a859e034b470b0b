"""What people say every day about what they had planned: the figures that decision 0003 quotes.

One judgement may fall another way on another processor's integers, so each count has a little slack.
"""

from __future__ import annotations

from collections import Counter

from memgate_core.model import ResolutionType
from memgate_core.resolution.checker import LocalChecker
from tests.resolution.test_checker import held, said

PLANS = {
    "sea": held("Seattle", "lives in Seattle", "I might move to Seattle in the spring"),
    "acme": held("Acme", "works for Acme", "I have an offer from Acme and might take it"),
    "tesla": held("Tesla", "drives a Tesla", "thinking of getting a Tesla"),
    "dog": held("a puppy", "has a puppy", "we may get a puppy in May"),
    "gym": held("PureGym", "goes to PureGym", "I am considering PureGym"),
}
CONFIRMED = (
    ("sea", "We went ahead with the move, boxes everywhere."),
    ("sea", "I signed the lease and moved in last Friday."),
    ("sea", "The move is done. Any good coffee near Pike Place?"),
    ("sea", "Finally settled in, my new apartment has a view of the Space Needle."),
    ("acme", "I took the offer, first day was Monday."),
    ("acme", "I accepted it and started last week."),
    ("acme", "My new boss at Acme is lovely."),
    ("tesla", "I went ahead and bought it, picked it up yesterday."),
    ("tesla", "Range anxiety is real, I had to charge twice on the way home today in my new car."),
    ("dog", "She came home on Sunday and chewed my slippers."),
    ("dog", "We got her! Eight weeks old."),
    ("gym", "I joined last night, the showers are great."),
    ("gym", "Signed up at PureGym this morning."),
)
ABANDONED = (
    ("sea", "We decided to stay in Austin after all."),
    ("sea", "I'm not moving to Seattle, too expensive."),
    ("acme", "I turned them down."),
    ("acme", "Acme withdrew the offer."),
    ("acme", "I'm staying where I am, they gave me a raise."),
    ("tesla", "Bought a Golf instead."),
    ("tesla", "The Tesla idea is dead, my wife hates it."),
    ("dog", "No puppy for us, the landlord said no."),
    ("gym", "I'll run outside instead, gyms aren't for me."),
)
OPEN = (
    ("sea", "Still thinking about Seattle."),
    ("sea", "Going to Seattle this weekend for a conference."),
    ("acme", "Interview at Acme on Tuesday."),
    ("tesla", "My brother bought a Tesla."),
    ("dog", "What should I feed a puppy?"),
    ("gym", "Any news on the weather?"),
)


def judged(told: tuple[tuple[str, str], ...]) -> Counter[ResolutionType]:
    checker = LocalChecker()
    return Counter(checker.check(said(text), [PLANS[k]])[0].resolution for k, text in told)


def test_most_everyday_confirmations_are_noticed() -> None:
    found = judged(CONFIRMED)
    assert found[ResolutionType.CONFIRM] >= 7
    assert found[ResolutionType.ABANDON] == 0


def test_everyday_abandonments_are_noticed() -> None:
    found = judged(ABANDONED)
    assert found[ResolutionType.ABANDON] >= 6
    assert found[ResolutionType.CONFIRM] == 0


def test_what_settles_nothing_settles_nothing() -> None:
    assert judged(OPEN) == {ResolutionType.NOTHING: len(OPEN)}
