"""Plainly the user's own: the short first-person sentence that needs no model to be placed.

"I live in Leeds" stands for the speaker's own life unless something in it says otherwise: another
person, a quotation, a joke, an occasion, a time that is over, a denial. Where none of those signs
is there, no encoder may argue it away.
"""

from __future__ import annotations

import re

from memgate_core.language.lexicon import verb_lemma
from memgate_core.model import Role, Turn

MOST_WORDS = 16
"""A longer message has room for a twist; it is left to the encoder."""

_OWN = re.compile(
    r"^\W*(?:(?:so|well|ok(?:ay)?|yes|yeah|yep|hi|hey|oh|and|btw|fyi|update|please remember(?: that)?"
    r"|remember(?: that)?|note that)\W+)*(?:i|we|i['’]?m|i['’]?ve|we['’]?re|we['’]?ve|i['’]?ll|we['’]?ll"
    r"|my (?:name|pronouns|job|employer|car|dentist|doctor|vet|bank|gym|phone|laptop|diet|home|city"
    r"|address|coffee|editor|browser))\b",
    re.IGNORECASE,
)
_TWIST = re.compile(
    r"[\"“”?]|\b(?:not(?! far\b| too\b)|never|no|n['’]?t|cannot|if|wish|imagine|pretend|would|used to|lol|haha+|lmao|apparently"
    r"|officially|basically|practically|joke|kidding|for now|this (?:week|time|month|summer|once)|just this"
    r"|today only|tonight|temporar\w+|until|till|meanwhile|on loan|borrow\w*|house ?-?sit\w*|visiting|staying"
    r"|for the (?:day|week|month|weekend|night)|back (?:in|when)|years ago|when i was|as a kid|once upon"
    r"|said|says|told|wrote|reads?|quote|character|novel|story|song|he|she|they|his|her|their|wrong"
    r"|sorry|ignore|scratch that|forget)\b",
    re.IGNORECASE,
)


_PRESENT = re.compile(
    r"\W*(?:i|we)\s+(?:(?:now|currently|only|always|mostly|usually)\s+)?(\w+)\s+(?:\w+\s+){0,3}",
    re.I,
)
_REST = re.compile(r"\W*(?:(?:now|these days|at the moment|nowadays)\W*)?", re.I)
_FORMER = re.compile(r"\b(?:old|former|ex|last|next|new|future|dream|ideal|favou?rite)\b", re.I)


def is_plainly_own(turn: Turn, words: str, value: str, attribute: str = "") -> bool:
    """True when `words`, and all of the message around them, only say `value` of the speaker.

    `attribute` is the field's name: "our dog groomer is Millie" says it in so many words.
    """
    text = turn.text
    return (
        turn.role is Role.USER
        and len(text.split()) <= MOST_WORDS
        and value.casefold() in words.casefold()
        and bool(_OWN.match(words) or _names_slot(words, attribute))
        and not _TWIST.search(text)
    )


def is_plain_present(turn: Turn, start: int, end: int) -> bool:
    """True when the whole message is "I" or "we", a verb in the present, a few words and the value:
    "I live in Leeds", "we shop at Spar now". Writers of training data never are that plain."""
    before, value, after = turn.text[:start], turn.text[start:end], turn.text[end:]
    said = _PRESENT.fullmatch(before)
    return (
        said is not None
        and bool(_REST.fullmatch(after))
        and verb_lemma(said.group(1).lower()) == said.group(1).lower()
        and is_plainly_own(turn, turn.text, value)
    )


def _names_slot(words: str, attribute: str) -> bool:
    head = attribute.rpartition("_")[2]
    said = re.match(
        rf"\W*(?:my|our)\s+((?:\w+\s+){{0,2}}){re.escape(head)}\s+(?:is|are)\b", words, re.I
    )
    return bool(head and said and not _FORMER.search(said.group(1)))
