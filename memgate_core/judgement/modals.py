"""Open modals: "may" and "might" before a verb leave it open whether it happens.

The encoder learned, rightly, that cue words can mislead, and then sometimes misses the plainest
one. Held in doubt costs little, committed in doubt is contamination: so an open modal of a
declarative sentence weighs in.
"""

from __future__ import annotations

import math
import re

from memgate_core.model import EvidenceType

LEAN = 2.5
"""Added to the log-odds of speculation."""

_OPEN = re.compile(
    r"(?<!\bas )\b(?:might|may)\b(?!\s+(?:have|as well|i|we|you|day|\d|be why|be because|not have))"
    r"|\b(?:ought to|thinking (?:of|about)|planning (?:on|to)|considering)\b(?=.*\w)"
    r"|\b(?:on the fence|undecided|torn between|in two minds|half a mind to|toying with|tempted to"
    r"|(?:haven['’]?t|not) (?:yet )?(?:quite )?(?:decided|made up my mind)|on the maybe list)\b",
    re.IGNORECASE,
)
_MONTH = re.compile(
    r"\b(?:in|on|of|by|since|until|last|this|early|late|mid|\d+(?:st|nd|rd|th)?) may\b|\bmay \d",
    re.I,
)


def leans_open(text: str) -> bool:
    """True when the words leave open whether something happens, and ask nothing."""
    return bool(_OPEN.search(text)) and not _MONTH.search(text) and not text.rstrip().endswith("?")


def leant(text: str, probabilities: dict[EvidenceType, float]) -> dict[EvidenceType, float]:
    """The probabilities, with the weight of an open modal where there is one."""
    if not leans_open(text):
        return probabilities
    held = probabilities[EvidenceType.SPECULATION]
    odds = held / max(1e-6, 1.0 - held) * math.exp(LEAN)
    raised = odds / (1.0 + odds)
    rest = (1.0 - raised) / max(1e-6, 1.0 - held)
    return {
        kind: raised if kind is EvidenceType.SPECULATION else p * rest
        for kind, p in probabilities.items()
    }
