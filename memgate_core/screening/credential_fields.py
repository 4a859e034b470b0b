"""Registered fields that would hold a credential: no value is ever taken for one."""

from __future__ import annotations

import re
from functools import lru_cache

_CREDENTIAL = re.compile(
    r"\b(?:pass ?words?|pass ?codes?|pass ?phrases?|pins?|puk|secret (?:key|word|question|answer)s?"
    r"|api keys?|access (?:key|code|token)s?|tokens?|credentials?|log ?in (?:details|codes?)"
    r"|one time (?:code|password)s?|otp|two factor codes?|recovery (?:key|code|phrase)s?|seed phrases?"
    r"|private keys?|card (?:number|security code)s?|cvv2?|cvc2?|iban|refund account|account number"
    r"|(?:door|gate|alarm|safe|lock|locker|unlock|entry|suitcase|keypad|key safe|bike lock) (?:codes?|combination)"
    r"|combination|wi ?fi (?:key|password)|national insurance number|social security number|passport number"
    r"|security (?:code|word|answer|question))\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def names_credential(attribute: str, description: str) -> bool:
    """True when a field, by its name or description, is made to hold a credential or account."""
    words = f"{attribute} {description}".replace("_", " ").replace("-", " ")
    return bool(_CREDENTIAL.search(words))
