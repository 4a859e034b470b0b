"""What lets somebody in, told in passing: "lockbox on the porch 2358C", "key's mangoBicycle52".

People do not say "my password is"; they name the lock and then the thing that opens it. So a word
that could be a credential counts as one where a lock stands near it. What only identifies a person
(national insurance, passport, account numbers) is kept out alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memgate_core.screening.finding import Finding, trimmed

_REASON = "secret.access"

_LOCK = (
    r"(?:pass(?:word|code|phrase|key)?s?|pwd|pw|pins?|log-?ins?|log in|sign-?in|credentials?|key ?pad"
    r"|lock ?box|key ?safe|key ?box|(?<!food )(?<!oven )safe|alarm|combination|padlock|vault|wi-?fi|network|router|admin"
    r"|portal|gateway|otp|one-time \w+|backup code|recovery (?:key|code)|security \w+|master key"
    r"|unlock\w*|voicemail|barrier|turnstile|override|front door|side gate|gate|lock|ssh|token|secret"
    r"|senha|contraseña|passwort|mot de passe|profile lock|voucher|till|thermostat|code(?<!postcode)"
    r"(?<!zipcode)(?<!dress code)(?<!area code)(?<!source code)|key['’]s|key is|wifi key|alarm word)"
)
_NEAR = r"[^.?!\n]{0,38}?"
_MIXED = (
    r"(?P<secret>(?<![\w/@.#£$€%&=+-])(?=[^\s]{0,40}[A-Za-z])(?=[^\s]{0,40}\d)(?:[A-Za-z0-9][\w!#$%&*@+-]{3,40}[\w!#*])"
    r"(?![\w/@]|['’]s\b))"
)
_LOCKED = re.compile(rf"\b{_LOCK}\b{_NEAR}(?<!\w){_MIXED}", re.IGNORECASE)
_OPENS = re.compile(
    rf"{_MIXED}\s*,?\s*(?:to get in|gets? (?:you|me|us|him|her) in|the pass(?:word|code)?\b|opens?\b"
    rf"|when it asks|is the (?:pass|code|pin|key|log-?in)\b|on the (?:key ?pad|lock ?box))",
    re.IGNORECASE,
)
_NUMBER = r"(?<![\d£$€.,/:A-Za-z-])(?P<secret>\d(?:[ -]?\d){3,18}[#*]?)(?![\d%/:]|[.,]\d|\s*(?:am|pm|hrs?|kg|km|miles?|quid|pounds|euros?|dollars|people|years?|words|steps|calories|ml|metres|square)\b)"
_COUNTED = re.compile(
    rf"\b(?:pins?(?!\s?code)|codes?(?!\s+(?:review|base|monkey|name|of|change|freeze|red|quality|is slow))(?<!postcode)(?<!pin code)(?<!pincode)(?<!zip code)(?<!dress code)(?<!area code)|cvv|cvc|otp|(?<!food )(?<!oven )safe|lock ?box"
    rf"|key ?safe|key ?box|little box|key ?pad|combination|alarm|padlock|voicemail|telephone banking"
    rf"|porch lock|digits|side gate|cash machine|barrier)\b{_NEAR}{_NUMBER}",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    rf"\b(?:ssn|social security|passport|licen[cs]e|account (?:number|card|no)|account number|routing"
    rf"|sort code|card(?: number| no)?|iban|emirates id|oyster|smart ?card|mtcn|member(?:ship)? number"
    rf"|nhs|aadhaar|alien number|consumer number|bitlocker|tap|taps|tapped)\b{_NEAR}{_NUMBER}",
    re.IGNORECASE,
)
_BEFORE_LOCK = re.compile(
    rf"{_NUMBER}\s+(?:gets|opens|lets|is the (?:pin|code)|if the (?:branch|bank)|and [\"“]?never share)",
    re.IGNORECASE,
)
_TURNED = re.compile(
    r"\b(?:twist|dial|turn|it['’]s|safe|combination)\b(?:[^.?!\n]|\.{2,3}){0,30}?"
    r"(?P<secret>\b\d{1,2}(?:\s?-\s?\d{1,2}){2,5}\b)(?!\s*-?\s*\d{2,4}\b)",
    re.IGNORECASE,
)
_KEYED = re.compile(
    rf"\b(?:tap|taps|punch|key|keys|type|types|dial|enter|press)(?: in)? {_NUMBER}"
    r"(?= (?:on|into|at|in) (?:the|that|its|his|her|your|my) (?:\w+ )?"
    r"(?:(?:key ?)?pad|panel|screen|reader|dial|keys|door|gate|intercom|machine|copier|printer))",
    re.IGNORECASE,
)
_CHAINED = re.compile(
    r"\b(?:(?:sits?|is|are|lives?|hides?|hidden|locked|kept) behind|lock(?:['’]s| is| was)(?: now)?)\s+"
    r"(?P<secret>[A-Za-z]{3,12}(?:-[A-Za-z]{3,12})+-\d+\b|(?-i:[A-Z][a-z]{2,12}(?:-[A-Z][a-z]{2,12})+\b))",
    re.IGNORECASE,
)
"""Words chained as people chain them for a password: "wombat-disco-7", "Wombat-Disco"."""
_PERSON = re.compile(
    r"\b(?P<secret>[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]|\d{3}-\d{2}-\d{4}"
    r"|784-\d{4}-\d{7}-\d)\b"
)
_ASSIGNED = re.compile(
    r"\b[A-Z0-9_]{0,40}(?:SECRET|TOKEN|API_?KEY|PASSWORD|PASSWD|PWD)[A-Z0-9_]{0,40}\s*=\s*(?P<secret>\S{5,200})"
)
_SEED = re.compile(
    r"\b(?:seed (?:phrase|words?)(?: is| was|:| starts?| begins?)|(?:my|wallet) seed(?: is| was|:| starts?| begins?)|seed (?:starts?|begins?))(?: with)?\s+"
    r"(?P<secret>(?:[a-z]{3,8}[ ,]+){3,23}[a-z]{3,8})",
)
_LETS_IN = re.compile(
    r"\b(?:gets|opens|lets|is the (?:pin|code)|if the|never share)\b", re.IGNORECASE
)
"""Without one of these no number stands before a lock: long runs of digits are not tried."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_HARMLESS = re.compile(
    r"\d+(?:st|nd|rd|th|s|am|pm|x|k|kg|g|mg|ml|l|cm|mm|m|km|mph|gb|tb|mb|w|v|hz|fps|p|in|ft|yo|yr|hrs?|mins?"
    r"|days?|weeks?|x\d+|v\d+)?$|\d+(?:[-x]\w{1,6}){1,2}$|[a-z]{2,5}-?(?:19|20)?\d{1,2}$"
    r"|(?:mp|h|ps|gt|rtx|gtx|iphone|ipad|windows|win|covid|python|usb|a|m|b|f|v)-?\d+\w{0,3}$|0x[0-9a-f]+$|\d[A-Z]?[a-z]+$|(?-i:(?:[A-Z][a-z]+)+-?\d{3,4}$)",
    re.IGNORECASE,
)
"""Sizes, times, versions and model names: letters with digits, and no credential."""
_ACROSS = (
    _LOCKED, _OPENS, _COUNTED, _NUMBERED, _BEFORE_LOCK, _TURNED, _KEYED, _CHAINED, _ASSIGNED, _SEED,
)  # fmt: skip

_ALWAYS = tuple(pattern for pattern in _ACROSS if pattern is not _BEFORE_LOCK)


def told_access(text: str) -> Iterator[Finding]:
    """What opens a lock that the text names, possibly overlapping."""
    for match in _PERSON.finditer(text):
        yield Finding(*match.span("secret"), "secret.identity")
    for pattern in _ACROSS if _LETS_IN.search(text) else _ALWAYS:
        for match in pattern.finditer(text):
            if pattern in (_ASSIGNED, _SEED) or _is_credential(match.group("secret"), pattern):
                found = trimmed(text, *match.span("secret"), _REASON)
                if found is not None:
                    yield found


def _is_credential(word: str, pattern: re.Pattern[str]) -> bool:
    digits = sum(ch.isdigit() for ch in word)
    if pattern in (_LOCKED, _OPENS):
        return not _HARMLESS.match(word)
    if pattern is _NUMBERED:
        return digits >= 6
    return pattern in (_TURNED, _CHAINED) or (digits >= 4 and not _YEAR.fullmatch(word))
