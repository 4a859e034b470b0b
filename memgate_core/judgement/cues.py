"""Which words of a statement speak for a class: what a judgement shows as its reasons.

The encoder decides; the cues explain. They are looked up in a small table of English signals of
modality, tense and aspect, correction, negation, attribution and temporal scope.
"""

from __future__ import annotations

import re
from enum import StrEnum

from memgate_core.model import EvidenceType, Standing


class Signal(StrEnum):
    """What a cue is a sign of."""

    MODAL = "modal"
    PLAN = "plan"
    WISH = "wish"
    CONDITION = "condition"
    FUTURE = "future"
    EVENT = "event"
    BEGINNING = "beginning"
    CORRECTION = "correction"
    NEGATION = "negation"
    QUESTION = "question"
    STATE = "state"
    OTHERS = "others"
    TEMPORARY = "temporary"
    PAST = "past"
    QUOTED = "quoted"
    RETRACTION = "retraction"


_WORDS: dict[Signal, str] = {
    Signal.MODAL: r"might|may(?! \d)|could|maybe|perhaps|possibly|probably|would|should be able",
    Signal.PLAN: (
        r"gonna|going to|planning|plan(?:s|ned)? (?:to|on)|intend(?:s|ing)? to|about to|"
        r"decided to|booked|thinking (?:of|about)|considering|toying with|looking at|torn|"
        r"aiming|meaning to|will|i'?ll|we'?ll|shall|on the fence|leaning|tempted"
    ),
    Signal.WISH: (
        r"want(?:s|ed)? to|wanna|hop(?:e|es|ing)|wish|would love|i'?d love|i'?d like|would like|"
        r"dream(?:ing)? of|my dream|can'?t wait to|always wanted|bucket list"
    ),
    Signal.CONDITION: r"if|unless|as long as|provided|in case|once (?:i|we|the)|depends",
    Signal.FUTURE: (
        r"tomorrow|tonight|next (?:week|month|year|\w+day|spring|summer|autumn|fall|winter)|"
        r"soon|someday|some day|one day|later|eventually|this (?:coming|weekend)|"
        r"in (?:a|two|three|\d+) (?:days?|weeks?|months?|years?)"
    ),
    Signal.EVENT: (
        r"yesterday|last (?:night|week|month|year|\w+day|spring|summer|autumn|fall|winter)|ago|"
        r"just|finally|already|at last|this morning|went|got|did|made|bought|moved|finished|"
        r"signed|took|had|found|passed|sold|left|met|saw|turned out|turns out"
    ),
    Signal.BEGINNING: r"now (?:i|we|at|on|with)|started|began|as of|from today|these days|since",
    Signal.CORRECTION: (
        r"i meant|meant|typo|actually|sorry|not \w+[,;:]? but|never (?:said|was|have been)|"
        r"wrong|mixed (?:up|them)|misread|misheard|correction|mistake|scratch that|should be|"
        r"no,|nope|all along"
    ),
    Signal.NEGATION: r"not|never|no|isn'?t|don'?t|doesn'?t|didn'?t|wasn'?t|won'?t|haven'?t|ain'?t",
    Signal.QUESTION: r"\?|who|what|when|where|why|how|which|can you|could you|do you|are you",
    Signal.STATE: r"i'?m|am|is|are|have|has|love|like|hate|prefer|always|usually|every|work|live",
    Signal.OTHERS: (
        r"(?:my|his|her|our|their) (?:mum|mom|mother|dad|father|sister|brother|son|daughter|wife|"
        r"husband|boss|friend|mate|cousin|aunt|uncle|gran\w*|nan|neighbou?r|colleague|flatmate|"
        r"roommate|partner|boyfriend|girlfriend|kids?)|he|she|they|his|her|their"
    ),
    Signal.TEMPORARY: (
        r"today|just (?:this )?once|this time|for now|for the (?:day|week|weekend|moment|month)|"
        r"until|till|while|in this|temporar\w*|borrowed|lent|house-?sitting|visiting|for \w+day"
    ),
    Signal.PAST: (
        r"used to|back (?:in|when)|years ago|in my \w+ (?:days|years)|once|was|were|former\w*|ex"
    ),
    Signal.QUOTED: r"[\"“”‘]|says?|said|quote|wrote|reads|song|lyrics?|diary|novel|story|ad",
    Signal.RETRACTION: (
        r"ignore|forget|scratch|delete|wrong (?:window|chat|person)|never ?mind|disregard"
    ),
}
_PATTERNS = {
    signal: re.compile(
        rf"(?<!\w)(?:{words})(?!\w)" if signal not in (Signal.QUESTION, Signal.QUOTED) else words,
        re.IGNORECASE,
    )
    for signal, words in _WORDS.items()
}

_EVIDENCE_SIGNALS = {
    EvidenceType.SPECULATION: (
        Signal.MODAL,
        Signal.PLAN,
        Signal.WISH,
        Signal.CONDITION,
        Signal.FUTURE,
    ),
    EvidenceType.COMPLETED_EVENT: (Signal.EVENT, Signal.BEGINNING),
    EvidenceType.CORRECTION: (Signal.CORRECTION,),
    EvidenceType.OTHER: (Signal.QUESTION, Signal.STATE),
}
_STANDING_SIGNALS = {
    Standing.OTHER_PERSON: (Signal.OTHERS,),
    Standing.TEMPORARY: (Signal.TEMPORARY,),
    Standing.QUOTED: (Signal.QUOTED,),
    Standing.PAST: (Signal.PAST,),
    Standing.NEGATED: (Signal.NEGATION,),
    Standing.RETRACTION: (Signal.RETRACTION,),
}
_MOST = 4


def evidence_cues(text: str, evidence: EvidenceType) -> tuple[str, ...]:
    """The words of a statement that are signs of its class, as they stand; at most four."""
    return _found(text, _EVIDENCE_SIGNALS[evidence])


def standing_cues(text: str, standing: Standing) -> tuple[str, ...]:
    """The words of a turn that are signs of how it stands to a value; at most four."""
    return _found(text, _STANDING_SIGNALS.get(standing, ()))


def _found(text: str, signals: tuple[Signal, ...]) -> tuple[str, ...]:
    hits = {
        match.start(): match.group(0).strip()
        for signal in signals
        for match in _PATTERNS[signal].finditer(text)
    }
    words = (hits[at] for at in sorted(hits))
    return tuple(dict.fromkeys(word.lower() for word in words if word))[:_MOST]
