"""Attribute names made comparable, and the paper's plan-frame retry (section 4).

A cautious extractor records a plan as a plan: `grocery_plan`, `vet_change_consideration`,
`conditional_bag_interest`. Taking the frame off gives the slot that the plan is about. The retry
is safe only because the words themselves still go to the classifier (paper, section 6.3).
"""

from __future__ import annotations

import re

_SPLIT = re.compile(r"[^a-z0-9]+|(?<=[a-z])(?=[A-Z])")
_FRAME = frozenset(
    ["plan", "plans", "planned", "planning", "intended", "intention", "intentions", "intent", "consideration", "considerations", "considering", "considered", "change", "changes", "changing", "switch", "switching", "move", "moving", "transfer", "replacement", "replacing", "upgrade", "upgrading", "update", "upcoming", "future", "prospective", "potential", "possible", "possibly", "maybe", "tentative", "conditional", "undecided", "decision", "option", "options", "alternative", "candidate", "interest", "interested", "wish", "wishes", "wished", "hope", "hopes", "goal", "goals", "aspiration", "desire", "desired", "want", "wanted", "wants", "thinking", "thought", "idea", "trial", "proposal", "proposed", "expected", "scheduled", "pending", "next", "new", "target", "contingency", "condition", "concern", "curiosity", "inclination", "preference", "preferred", "leaning", "migration", "progress", "status", "countdown", "reminder", "timeline", "date", "deadline", "reason", "start", "starting", "end", "ending", "current", "currently", "main", "primary", "usual", "default"]
)
_KEEP_WHEN_ALONE = frozenset(["status", "preference", "interest", "plan", "goal", "start", "change", "date"])


def tokens(attribute: str) -> tuple[str, ...]:
    """The words of an attribute name: `homeCity`, "home city" and `home_city` are alike."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", attribute.replace("'s ", " "))
    return tuple(word for word in _SPLIT.split(spaced.lower()) if word and word != "user")


def normalise(attribute: str) -> str:
    """The attribute in snake case."""
    return "_".join(tokens(attribute))


def without_plan_frame(attribute: str) -> str | None:
    """The attribute without its plan, interest or condition frame; None when nothing changes or
    nothing is left."""
    words = tokens(attribute)
    kept = tuple(word for word in words if word not in _FRAME)
    if not kept or kept == words:
        return None
    return "_".join(kept)


def is_plan_framed(attribute: str) -> bool:
    """True when the name itself says that the value is a plan."""
    words = tokens(attribute)
    strong = (
        _FRAME
        - _KEEP_WHEN_ALONE
        - frozenset(["new", "current", "currently", "main", "primary", "usual", "default"])
    )
    return len(words) > 1 and any(word in strong or word in ("plan", "goal") for word in words)
