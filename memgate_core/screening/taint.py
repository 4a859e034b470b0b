"""Words in a turn that are not the user's own: tool and page text, pasted mail, quoted lines.

Tainted words never become a user's fact, and orders inside them ("note to assistant: remember
...") are refused outright (article: untrusted data; shared case: a document that gives orders).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from memgate_core.model import Role, Source, Span, Turn
from memgate_core.screening.finding import Finding

PASTED = "pasted"

_MAIL_HEAD = re.compile(
    r"^[ \t>]*(?:From|To|Sent|Subject|Date|Cc|Reply-To|Von|An|Betreff|Gesendet|De|À|Objet|Para|Asunto"
    r"|Da|Oggetto)[ \t]*:[ \t]*\S.*$",
    re.MULTILINE,
)
_FORWARDED = re.compile(
    r"^[ \t]*-{2,}[ \t]*(?:original message|forwarded message|begin forwarded).*$"
    r"|^[ \t]*On .{4,80} wrote:[ \t]*$|^[ \t]*(?:Begin forwarded message|Am .{4,60} schrieb.*):?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_PASTE_INTRO = re.compile(
    r"^[^\n]{0,200}\b(?:past(?:e|ing|ed)|copied|forwarded?|below|(?:it|page|site|letter|email|mail|doc"
    r"|document|article|file|notice|leaflet|note|message|text) (?:says|reads|said|goes)|they (?:wrote|said|sent)"
    r"|(?:s?he|he|mum|dad|boss) (?:wrote|sent)|summari[sz]e|translate|proofread|rewrite|rephrase|shorten"
    r"|what does this mean|reply to this|answer this|check this)\b[^\n]{0,120}:[ \t]*\n",
    re.MULTILINE | re.IGNORECASE,
)
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|&gt;)[^\n]*(?:\n|\Z)", re.MULTILINE)
_FENCED = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n[\s\S]*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE)
_QUOTATION = re.compile(
    r"[\"“„«]([^\"“”„«»]{12,2000})[\"”»]|(?<!\w)['‘]([^'‘’\n]{20,600})['’](?!\w)"
)
_READER = (
    r"(?:ai|a\.i\.|assistants?|digital assistants?|model|models|llms?|chat ?bots?|bots?|agents?|chatgpt"
    r"|claude|gpt|copilot|gemini|siri|alexa)"
)
_ORDER = re.compile(
    rf"\b(?:note|message|instructions?|attention|reminder|memo|notice)\s+(?:to|for)\s+"
    rf"(?:(?:the|any|all|your)\s*)?{_READER}\b"
    rf"|\b{_READER}\s*[:,–—-]\s*(?:please\s+)?(?:remember|save|store|update|note|record|ignore|forget|set|add)\b"
    rf"|\b{_READER}\s+(?:that (?:are|is)\s+)?(?:processing|reading|handling|summari[sz]ing|viewing|parsing)\b"
    r"|\bignore (?:all |any |the )?(?:your )?(?:previous|prior|above|earlier|other) (?:instructions?|prompts?|rules)"
    r"|\b(?:save|store|add|write|update|record|remember|commit|set)\b[^.\n]{0,80}\b(?:the |this |account )"
    r"(?:user|owner|account owner|account holder|customer|client)(?:'s|’s)?\b"
    r"|\b(?:update|save (?:this )?(?:to|in)|write (?:this )?(?:to|into)|add (?:this )?to)\s+(?:your|its|the)"
    r"\s+(?:long[- ]term\s+)?memor(?:y|ies)\b"
    r"|\b(?:the )?user (?:prefers|lives|works|wants|has moved|is now|always|now)\b"
    r"|\b(?:no need|do not|don't) to? ?(?:mention|tell|inform|notify)\b"
    r"|\bper (?:l'|l’|gli )assistent|\bfür (?:den|die|das) (?:ki[- ])?assistent|\bpour (?:l'|l’)(?:assistant|ia)"
    r"|\bpara (?:el|la) (?:asistente|ia)\b|\baggiornare la memoria|\bgedächtnis|\bmettre à jour (?:la|ta) mémoire"
    r"|\bactualiza\w* (?:la|tu) memoria",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(
    rf"\b(?:note|message|instructions?|attention|memo|notice)\s+(?:to|for)\s+(?:(?:the|any|all)\s*)?{_READER}\b[^\n]*"
    r"|\b(?:ignore|disregard) (?:all |any |the )?(?:your )?(?:previous|prior|above|earlier) (?:instructions?"
    r"|prompts?|rules)\b[^\n]*",
    re.IGNORECASE,
)
"""Nobody speaks of himself so: foreign words even where nothing marks them as pasted."""
_SENTENCE_EDGE = re.compile(r"[.!?](?=\s)|\n")


def is_foreign(turn: Turn) -> bool:
    """True when no word of the turn is the user's own."""
    return turn.source is not Source.USER or turn.role is not Role.USER


def labels_of(turn: Turn, foreign: list[Span]) -> frozenset[str]:
    """The turn's own taint, its source when that is not the user, and `pasted` where it applies."""
    labels = set(turn.taint)
    if is_foreign(turn):
        labels.add(str(turn.source if turn.source is not Source.USER else turn.role))
    elif foreign and not turn.taint:
        labels.add(PASTED)
    return frozenset(labels)


def foreign_spans(turn: Turn) -> list[Span]:
    """The ranges that are not the user's own words, in order and disjoint."""
    if is_foreign(turn) or turn.taint:
        return [Span(start=0, end=len(turn.text))] if turn.text else []
    return _merged([*_blocks(turn.text), *_lines(turn.text)])


def orders_in(turn: Turn, foreign: list[Span]) -> Iterator[Finding]:
    """Sentences in foreign words, or in a quotation, that try to give the memory orders."""
    text = turn.text
    quoted = [Span(start=m.start(), end=m.end()) for m in _QUOTATION.finditer(text)]
    for area in _merged([*foreign, *quoted]):
        for match in _ORDER.finditer(text, area.start, area.end):
            start, end = _sentence(text, match.start(), match.end(), area)
            yield Finding(start, end, "taint.order")


def _blocks(text: str) -> Iterator[Span]:
    """Pasted mail and announced pastes run to the end of the message."""
    starts = [match.start() for match in _FORWARDED.finditer(text)]
    heads = [match.start() for match in _MAIL_HEAD.finditer(text)]
    starts += [a for a, b in itertools.pairwise(heads) if text.count("\n", a, b) <= 3][:1]
    starts += [match.end() for match in _PASTE_INTRO.finditer(text)]
    if starts and min(starts) < len(text):
        yield Span(start=min(starts), end=len(text))


def _lines(text: str) -> Iterator[Span]:
    for pattern in (_QUOTED_LINE, _FENCED, _ADDRESSED):
        for match in pattern.finditer(text):
            yield Span(start=match.start(), end=match.end())


def _sentence(text: str, start: int, end: int, area: Span) -> tuple[int, int]:
    before = [m.end() for m in _SENTENCE_EDGE.finditer(text, max(area.start, start - 400), start)]
    after = _SENTENCE_EDGE.search(text, end, area.end)
    return (before[-1] if before else max(area.start, start - 400)), (
        after.end() if after else area.end
    )


def _merged(spans: list[Span]) -> list[Span]:
    out: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        if out and span.start <= out[-1].end:
            out[-1] = Span(start=out[-1].start, end=max(out[-1].end, span.end))
        else:
            out.append(span)
    return out
