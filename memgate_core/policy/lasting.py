"""Whether a statement asserts anything at all, or only asks, greets, thanks and requests.

Deliberately coarse and lexical: it runs on every statement of every turn, and a mistake here only
decides whether an open statement is kept as an open fact. A registered field never depends on it.
"""

from __future__ import annotations

import re

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
_PHATIC = re.compile(
    r"^\W*(?:hi|hey+|hello|morning|good (?:morning|evening|afternoon|night)|thanks?|thank you|ty|ta"
    r"|cheers|ok(?:ay)?|k|yes|yep|yeah|no|nope|nah|sure|great|perfect|lovely|nice|cool|wow|lol|haha+"
    r"|omg|ugh|bye|see you|please|sorry|right|fine|true|same|exactly|well|hmm+|awesome|amazing)"
    r"(?:\W+(?:a lot|so much|you|then|there|again|everyone|all|one|very much|mate|man|dear))*\W*$",
    re.IGNORECASE,
)


def is_lasting(text: str) -> bool:
    """True when the words may state an event or a state worth keeping."""
    stripped = text.strip()
    if not any(ch.isalnum() for ch in stripped):
        return False
    if stripped.rstrip("\"')*_ ").endswith("?"):
        return False
    return not (_PHATIC.match(stripped) or _REQUEST.match(stripped) or _QUESTION.match(stripped))
