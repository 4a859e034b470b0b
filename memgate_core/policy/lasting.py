"""Whether a statement asserts anything at all, or only asks, greets, thanks and requests.

Deliberately coarse and lexical: it runs on every statement of every turn, and a mistake here only
decides whether an open statement is kept as an open fact. A registered field never depends on it.
"""

from __future__ import annotations

import re

from memgate_core.language.words import word_set

_QUESTION = re.compile(
    r"^\W*(?:and |but |so |ok(?:ay)? |also )*"
    r"(?:who|what|whats|when|where|why|how|hows|which|whose|is|are|am|was|were|do|does|did|can|could"
    r"|would|will|should|shall|may|might|have|has|had|any|anything good)\b(?! i'm| im)",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"^\W*(?:and |but |so |then |now |also |ok(?:ay)? |please |pls |just )*"
    r"(?:can|could|would|will) (?:you|u|ya)\b|"
    r"^\W*(?:yes |yeah |ok(?:ay)? )*(?:i|we)(?:['’]d| would) (?:like|love)"
    r" (?:that|this|it|to see)\b|"
    r"^\W*(?:and |then |now |also |please |pls |just |kindly )*"
    r"(?:tell|give|show|find|write|draft|make|book|order|remind|suggest|recommend|explain|help|list"
    r"|translate|summari[sz]e|check|look|let me know|send|add|set|call|let's|lets|compare|plan|name"
    r"|rewrite|rephrase|convert|keep going|go on|carry on|ignore|forget|do it|try|read|fix|turn)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_DRAWN_OUT = re.compile(r"(.)\1+")
_LAUGHTER = re.compile(r"(?:a?(?:h[aei])+h?|x[dx]+|lo+l|lmf?ao)")
_PHATIC = word_set(
    "hi hey hello yo morning good evening afternoon night day thanks thank ty ta cheers ok"
    " okay k yes yep yup yeah ya aye no nope nah sure great perfect lovely nice cool wow omg"
    " ugh oof phew yay meh huh eh ah oh aw oops ouch gosh hooray bye see you please sorry"
    " right fine true same exactly indeed absolutely definitely totally agreed deal noted"
    " well hm mm awesome amazing brilliant a lot so much very too then there again everyone"
    " all one mate man dear sir really it is was of course no worries problem not at my"
    " pleasure welcome that's that"
)
"""Words that carry nothing by themselves, however many of them stand together."""
_SHORTENED = frozenset(_DRAWN_OUT.sub(r"\1", word) for word in _PHATIC)


def is_lasting(text: str) -> bool:
    """True when the words may state an event or a state worth keeping."""
    stripped = text.strip()
    if not any(ch.isalpha() for ch in stripped) or _is_phatic(stripped):
        return False
    if stripped.rstrip("\"')*_ ").endswith("?"):
        return False
    return not (_REQUEST.match(stripped) or _QUESTION.match(stripped))


def _is_phatic(text: str) -> bool:
    """True for greetings, thanks, laughter and assent: "haha yeah", "thank you sooo much"."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    return all(_LAUGHTER.fullmatch(w) or _DRAWN_OUT.sub(r"\1", w) in _SHORTENED for w in words)
