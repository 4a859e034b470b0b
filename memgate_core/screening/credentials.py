"""Credentials told in plain language: "my netbank password is ...", PINs, codes, seed phrases.

A keyword alone is no credential ("I forgot my password", "a PIN badge"): a value that can be one
must follow where a value stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from memgate_core.language.lexicon import Tag, is_adjective, verb_readings
from memgate_core.language.words import STOPWORDS, word_set
from memgate_core.screening.finding import Finding, of_matches, trimmed

_PASSWORD = (
    r"(?:pass(?:\s|-)?(?:word|code|phrase|key)|passwd|pwd|pw|passwort|kennwort|mot de passe|contraseña"
    r"|contrasena|senha|wachtwoord|lösenord|hasło|пароль)s?"
)
_NOT_COMPOUND = (
    r"(?!\s*(?:[-‐]\s*)?(?:managers?|reset|resets|polic(?:y|ies)|protect\w*|app|vault|hints?|rules?|page"
    r"|requirements?|generator|field|box|prompt|less|change|expired?|form|screen|strength|issues?"
    r"|problems?|button|link|flow|attempts?|security)\b)"
)
_WHERE = r"(?:\s+(?:for|to|of|on|at|in)\s+(?:[\w'’.-]+\s+){0,4}?[\w'’.-]+)?"
_IS = (
    r"\s*(?:(?:(?:is|was|will be|should be|ist|est|es|é|это)\b|'s|’s|=+|:|->|→|–|—)\s*"
    r"(?:(?:now|just|still|currently|actually|probably|called|set to|changed to|simply)\b[\s:]*)*)"
)
_VALUE = r"(?P<secret>[\"“'‘`][^\"”'’`\n]{3,60}[\"”'’`]|\S+)"
_STATED = re.compile(rf"\b{_PASSWORD}\b{_NOT_COMPOUND}{_WHERE}{_IS}{_VALUE}", re.IGNORECASE)
_CHANGED = re.compile(
    rf"\b(?:chang|set|reset|updat|switch|mak)\w*\s+(?:[\w'’-]+\s+){{0,5}}?{_PASSWORD}\s+"
    rf"(?:for\s+\S+\s+)?(?:to|into|as)\s+{_VALUE}",
    re.IGNORECASE,
)
_BARE = re.compile(rf"\b{_PASSWORD}\s+{_VALUE}", re.IGNORECASE)
_BEHIND = re.compile(
    rf"(?:\buse\s+)?(?<!\S)(?P<secret>[\"“'‘`][^\"”'’`\n]{{3,60}}[\"”'’`]|\S{{1,80}})\s+(?:is|as|was)\s+(?:now\s+)?"
    rf"(?:my|the|our|your|his|her)\s+(?:[\w-]+\s+){{0,3}}?(?:{_PASSWORD}|pin)\b{_NOT_COMPOUND}",
    re.IGNORECASE,
)
_LOGIN_TALK = re.compile(
    r"\b(?:net ?bank(?:ing)?|online bank(?:ing)?|bank(?:ing)? (?:app|login|log-in)|log-?ins?|sign-?in"
    r"|wi-?fi|router|e-?mail account|vault|admin|vpn|laptop lock|lock ?screen)\b",
    re.IGNORECASE,
)
_ONE_IS = re.compile(
    r"\b(?:it|that|this|the (?:new|old) one|one|which|that one)(?:'s|’s|\s+is|\s+was|:)\s*(?:now\s+)?"
    r"(?P<secret>\S+)|\b(?:to|with|now)\s+(?P<other>\S+)",
    re.IGNORECASE,
)
_PIN = re.compile(
    r"\b(?:(?:my|the|our|your|his|her|new|old|card|phone|sim|bank|atm|debit|credit|door|mum's|dad's)"
    r"\s+(?:[\w'-]+\s+){0,2}?pin|PIN|pin (?:code|number|no\.?))(?:\s+(?:code|number|no\.?))?\b"
    r"(?:\s+(?:for|to|of|on)\s+(?:[\w'’-]+\s+){0,3}?[\w'’-]+)?"
    r"(?:\s*(?:is|was|=|:|'s|’s|->|to)\s*(?:now\s+|still\s+)?|\s+)[\"'“‘]?(?P<secret>\d(?:[ -]?\d){2,11})"
    r"(?![\d%]|\s*(?:badge|badges|pins|people|years|days|digits|times|attempts|%))",
)
_PIN_LOOSE = re.compile(_PIN.pattern, re.IGNORECASE)
_POSTAL_PIN = re.compile(r"pin\s?code", re.IGNORECASE)
_CODE_KIND = (
    r"(?:verification|security|one[- ]time|log-?in|sign-?in|2fa|two[- ]factor|mfa|auth\w*|sms|backup"
    r"|recovery|unlock|access|door|front door|gate|alarm|entry|key ?safe|lock ?box|lockbox|safe|locker"
    r"|garage|building|entrance|buzzer|sim|voicemail|padlock|combination|burglar alarm)"
)
_CODE = re.compile(
    rf"\b(?:{_CODE_KIND}(?:\s+[\w-]+)?\s+(?:code|combination|combo|number|passcode|lock)s?|otp|puk|totp)\b"
    rf"(?:(?:\s+(?:for|to|of|on|at)\s+(?:[\w'’-]+\s+){{0,3}}?[\w'’-]+)?"
    rf"\s*(?:is|was|=|:|'s|’s|->)\s*(?:now\s+|still\s+)?|\s+)[\"'“‘]?"
    rf"(?P<secret>(?-i:(?=[A-Z-]{{0,4}}\d)[A-Z0-9]{{2,6}}(?:[ -](?=\w*\d)[A-Z0-9]{{2,4}}){{0,3}})"
    rf"|\d(?:[ -]?\d){{2,11}})"
    rf"(?![\w%])",
    re.IGNORECASE,
)
_LOCK = re.compile(
    r"\b(?:key ?safe|lock ?box|key ?pad|padlock|burglar alarm|alarm|combination|entry ?phone|suitcase lock)\b"
    r"(?:\s+(?:by|on|at|for|in|to|of)\s+(?:[\w'’-]+\s+){0,3}?[\w'’-]+)?\s*(?:is|=|:|'s|’s)\s*(?:now\s+)?"
    r"(?P<secret>\d(?:[ -]?\d){2,7})(?![\w%:.]\d|\s*(?:am|pm|metres|pounds|years|o'clock)\b)",
    re.IGNORECASE,
)
_LETS_IN = re.compile(
    r"(?<!\S)(?P<secret>\S{6,80})\s+(?:gets|lets|will get|will let)\s+(?:you|me|us|him|her|them|anyone)\s+in\b"
    r"|\b(?:log|sign|get) (?:in|on)(?:to \w+)? with\s+(?P<other>\S{6,80})",
    re.IGNORECASE,
)
_SENT_CODE = re.compile(
    r"\b(?:text(?:ed)?|sms|sent|e-?mailed|authenticator|verif\w+|log(?:ging)? ?in|sign(?:ing)? ?in)\b"
    r"[^.\n]{0,60}\bcode\b[^\d\n]{0,20}(?P<secret>\d{3}[ -]?\d{3}|\d{4,8})(?!\d)"
    r"|\bcode\b[^\d\n]{0,12}(?P<also>\d{3}[ -]?\d{3}|\d{4,8})(?!\d)[^.\n]{0,40}\b(?:text|sms|log|verif)",
    re.IGNORECASE,
)
_GOOGLE_CODE = re.compile(r"\b(?P<secret>G-\d{6})\b")
_KEY = re.compile(
    r"\b(?:(?:api|access|secret|private|auth|bearer|encryption|client|signing|deploy)[ _-]?"
    r"(?:key|token|secret)|bearer|token)s?\b[\w ]{0,20}?(?:\s*(?:is|was|=|:|'s|’s|->)\s*|\s+)[\"'“‘`]?"
    r"(?P<secret>(?=[^\s]*\d)[A-Za-z0-9_\-./+=]{8,})",
    re.IGNORECASE,
)
_PHRASE = re.compile(
    r"\b(?:seed|recovery|secret|backup|mnemonic)[ -]?(?:phrase|words)\b[^a-z\n]{0,4}(?:(?:is|are|:)\s*)?"
    r"[\"'“‘]?(?P<secret>(?:[a-z]+[ ,]+){5,23}[a-z]+)|\bpass ?phrase\b[\w ]{0,20}?(?:is|:|=)\s*"
    r"[\"'“‘]?(?P<also>(?:[a-z]+[ -]+){2,9}[a-z]+)",
)
_WORD_RUN = re.compile(r"\b(?:[a-z]{3,8}[ \n,]+){11,23}[a-z]{3,8}\b")
_TRIGGER = re.compile(
    r"pass|pwd|\bpw\b|pin\b|code|combination|combo|token|secret|key|phrase|otp|puk|log-?in|sign-?in"
    r"|bank|wi-?fi|router|vault|admin|vpn|bearer|kennwort|contrase|senha|wachtwoord|lösen|hasło"
    r"|пароль|G-\d|words|lock|mnemonic",
    re.IGNORECASE,
)
_ASKED = re.compile(r"\b(?:password|passcode|pass phrase|pin|code|otp|token|api key)\b", re.I)
_MEASURED = re.compile(
    r"\s*(?:\+\s*)?(?:characters?|chars?|letters?|digits?|words?|long|years?|days?|months?|weeks?|times?"
    r"|min(?:ute)?s?|attempts?|people|%)",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"[*•x.…_<>\[\]{}-]+$|<[^>]*>$|your[-_ ]?\w+$", re.IGNORECASE)
_ENDS = re.compile(
    r"\s*(?:$|[.,;!?)\n]|(?:and|but|now|btw|lol|for|please|pls|haha|in case|so|ok)\b)", re.I
)
_INNER = re.compile(r"[^\W_][!@#$%^&*+=~_\-.][^\W_]|[!#$%^&*+=~]|[a-z][A-Z]")
_NO_SECRET = word_set(
    "crap rubbish trash garbage gibberish nonsense history gone same mine yours his hers theirs ours"
    " nothing something anything everything it that this there here one ones fine good bad great ok"
    " okay safe wrong right weak strong expired required optional enough correct incorrect invalid"
    " valid broken missing secret private public default empty blank unknown locked stuck dead hell"
    " easy hard stupid useless annoying secure saved stored written hidden known due because why how"
    " what when where who stopped rejected refused case sensitive too very really so not never always"
    " about like basically literally on off up down out back forgotten lost leaked hacked stolen"
    " shared joke nightmare mess pain problem issue thing name birthday password passcode"
)


def spoken_credentials(text: str, asked: str | None = None) -> Iterator[Finding]:
    """Credentials in a text; `asked` is the line it answers, if any ("what's the new PIN?")."""
    if asked and _ASKED.search(asked, 0, max(0, asked.rfind("?"))):
        yield from _answer(text)
    yield from _talked_about(text)
    if _TRIGGER.search(text):
        yield from _numbers(text)
        yield from _passwords(text)
        yield from _phrases(text)
    yield from _word_runs(text)


def _passwords(text: str) -> Iterator[Finding]:
    for pattern in (_STATED, _CHANGED, _BEHIND):
        for match in pattern.finditer(text):
            if _may_be_password(text, match):
                yield from of_matches(text, [match], "secret.password")
    for match in _BARE.finditer(text):
        quoted = match["secret"][0] in '"“' and match["secret"][-1] in '"”'
        if quoted or (_is_shaped(_bare(match)) and _bare(match).lower() not in _NO_SECRET):
            yield from of_matches(text, [match], "secret.password")
    yield from of_matches(text, _KEY.finditer(text), "secret.api_key")


def _bare(match: re.Match[str]) -> str:
    return match.group("secret").strip("\"'“”‘’`.,;:!?()")


def _may_be_password(text: str, match: re.Match[str]) -> bool:
    given, word = match.group("secret"), _bare(match)
    if len(word) < 3 or _PLACEHOLDER.match(word) or word.lower() in _NO_SECRET:
        return False
    if given[0] in "\"“'‘`" and given[-1] in "\"”'’`.,;!?":
        return True
    after = text[match.end("secret") :]
    if _is_shaped(word) or word.isdigit():
        return not _MEASURED.match(after) and "://" not in word
    return _plain_word_may(word, given, after)


def _plain_word_may(word: str, given: str, after: str) -> bool:
    """A plain word is taken for a password only where a value and nothing else can stand."""
    low = word.lower()
    if low in STOPWORDS or is_adjective(low) or not low.isalpha() or len(low) < 4:
        return False
    if any(r.tag in (Tag.GERUND, Tag.PAST, Tag.PARTICIPLE) for r in verb_readings(low)):
        return False
    return given[-1] in ".,;!?" or bool(_ENDS.match(after))


def _is_shaped(word: str) -> bool:
    """Letters with digits, symbols inside, or capitals inside: no ordinary word."""
    if len(word) < 4 or word.startswith(("http", "www.")) or re.fullmatch(r"[\d.:/,-]+", word):
        return False
    mixed = any(ch.isdigit() for ch in word) and any(ch.isalpha() for ch in word)
    ordinary = re.fullmatch(
        r"[A-Za-z]+(?:[-'’][A-Za-z]+)*|\d+(?:st|nd|rd|th|am|pm|k|gb|mb)", word, re.I
    )
    inner_capital = re.search(r"[a-z][A-Z]", word)
    return (mixed and not ordinary) or bool(_INNER.search(word) and (not ordinary or inner_capital))


def _numbers(text: str) -> Iterator[Finding]:
    for match in _PIN_LOOSE.finditer(text):
        postal = _POSTAL_PIN.search(match.group()) and len(re.sub(r"\D", "", match["secret"])) == 6
        if not postal:
            yield from of_matches(text, [match], "secret.pin")
    for match in _BEHIND.finditer(text):
        if re.fullmatch(r"\d{3,12}", _bare(match)):
            yield from of_matches(text, [match], "secret.pin")
    for match in _CODE.finditer(text):
        if any(ch.isdigit() for ch in match["secret"]):
            yield from of_matches(text, [match], "secret.access_code")
    yield from of_matches(text, _LOCK.finditer(text), "secret.access_code")
    for match in _SENT_CODE.finditer(text):
        start, end = match.span("secret") if match["secret"] else match.span("also")
        yield Finding(start, end, "secret.one_time_code")
    yield from of_matches(text, _GOOGLE_CODE.finditer(text), "secret.one_time_code")


def _phrases(text: str) -> Iterator[Finding]:
    for match in _PHRASE.finditer(text):
        start, end = match.span("secret") if match["secret"] else match.span("also")
        reason = "secret.seed_phrase" if match["secret"] else "secret.password"
        yield Finding(start, end, reason)


def _talked_about(text: str) -> Iterator[Finding]:
    """ "they made me change the netbank one again, so from today it's ..."."""
    for match in _LETS_IN.finditer(text):
        yield from _strong(text, match)
    for talk in _LOGIN_TALK.finditer(text):
        stop = min(len(text), talk.end() + 120)
        for match in _ONE_IS.finditer(text, talk.end(), stop):
            yield from _strong(text, match)


def _strong(text: str, match: re.Match[str]) -> Iterator[Finding]:
    start, end = match.span("secret") if match["secret"] else match.span("other")
    found = trimmed(text, start, end, "secret.password")
    if found is not None and _is_strong(text[found.start : found.end]):
        yield found


def _is_strong(word: str) -> bool:
    """Shaped like a password beyond doubt: three kinds of characters, or words chained to digits."""
    if len(word) < 6 or not _is_shaped(word):
        return False
    kinds = sum(
        (
            any(ch.isdigit() for ch in word),
            any(ch.islower() for ch in word),
            any(ch.isupper() for ch in word),
            any(not ch.isalnum() for ch in word),
        )
    )
    return kinds >= 3 and "@" not in word[1:-1]


def _answer(text: str) -> Iterator[Finding]:
    if len(text) > 80:
        return
    for match in re.finditer(r"\S+", text):
        word = match.group().strip(".,;:!?\"'")
        if _is_strong(word) or re.fullmatch(r"\d{4,8}", word):
            found = trimmed(text, match.start(), match.end(), "secret.password")
            if found is not None:
                yield found


def _word_runs(text: str) -> Iterator[Finding]:
    """Twelve and more words of the BIP-39 list in a row: a wallet's seed phrase."""
    for match in _WORD_RUN.finditer(text):
        words = re.findall(r"[a-z]+", match.group())
        if sum(word in _wallet_words() for word in words) >= max(12, len(words) - 1):
            yield Finding(match.start(), match.end(), "secret.seed_phrase")


@cache
def _wallet_words() -> frozenset[str]:
    from mnemonic import Mnemonic

    return frozenset(Mnemonic("english").wordlist)
