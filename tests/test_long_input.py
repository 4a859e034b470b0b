"""Cost grows no faster than the message: measured as growth, so that a busy machine may be slow."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module

import pytest

from memgate_core.extraction import align as aligning
from memgate_core.extraction.clauses import split
from memgate_core.extraction.sentences import _STOP
from memgate_core.fields.plain_value import plain_value, planned_value
from memgate_core.fields.validators import _BRACKETED
from memgate_core.fields.values import words_of
from memgate_core.forwarding import forwardable, widened
from memgate_core.model import Span
from memgate_core.resolution.wording import without_afterthoughts, without_times
from memgate_core.screening import credentials, taint
from memgate_core.screening.finding import Finding
from memgate_core.screening.screener import Screener, _repeats
from tests.support.build import make_turn
from tests.support.needs import needs

_SHORTEST_S = 0.002
"""A measurement below this is mostly noise."""
_MOST = 10.0
"""Four times the input may cost this much; what is linear costs 4, what is quadratic 16."""


def seconds(work: Callable[[], object], repeats: int = 1) -> float:
    """The least process time of three rounds of `repeats` calls."""
    return min(_once(work, repeats) for _ in range(3))


def _once(work: Callable[[], object], repeats: int) -> float:
    began = time.process_time()
    for _ in range(repeats):
        work()
    return time.process_time() - began


def growth(work: Callable[[int], Callable[[], object]], n: int) -> float:
    """How many times longer 4n takes than n; both are repeated until n can be measured."""
    small, large = work(n), work(4 * n)
    repeats = 1
    while (least := seconds(small, repeats)) < _SHORTEST_S:
        repeats *= 4
    return seconds(large, repeats) / least


def searched(pattern: re.Pattern[str], text: Callable[[int], str]) -> Callable[..., object]:
    """Every match of a pattern in a text of a given length."""
    return on(lambda told: list(pattern.finditer(told)), text)


def on(work: Callable[[str], object], text: Callable[[int], str]) -> Callable[..., object]:
    """A function of one text, on a text of a given length."""
    return lambda n: partial(work, text(n))


def password_with_blanks(n: int) -> str:
    return "password" + " " * n + "x"


MEASURED = {
    "sentence-stops": searched(_STOP, lambda n: "!" * n + "x"),
    "plain-value-blanks": on(plain_value, lambda n: "go" + " " * n + "x"),
    "planned-value-blanks": on(lambda v: planned_value(v, None), lambda n: "either" + " " * n),
    "plain-value-words": on(plain_value, lambda n: "go if, (planned " * (n // 16)),
    "stated-password": searched(credentials._STATED, password_with_blanks),
    "measured": searched(re.compile(r"x" + credentials._MEASURED.pattern), lambda n: "x" + " " * n),
    "asked": on(
        lambda asked: list(credentials.spoken_credentials("hm", asked)), lambda n: "pin " * (n // 4)
    ),
    "order-to-a-reader": searched(taint._ORDER, lambda n: "note to" + " " * n + "x"),
    "note-to-a-reader": searched(taint._ADDRESSED, lambda n: "note to" + " " * n + "x"),
    "afterthoughts": on(without_afterthoughts, lambda n: "a" + " " * n + "x"),
    "times": on(without_times, lambda n: "a" + "," * n + "x"),
    "brackets": searched(_BRACKETED, lambda n: " " * n + "x"),
    "halves": on(words_of, lambda n: "1" * n),
    "edges": on(lambda t: forwardable(t, [Span(start=0, end=1)]), lambda n: "a b" + " " * n + "x"),
    "addresses": on(split, lambda n: "a-" * (n // 2) + "x"),
}


@pytest.mark.parametrize("name", MEASURED)
def test_four_times_the_text_does_not_cost_ten_times_as_much(name: str) -> None:
    assert growth(MEASURED[name], 500) < _MOST


def test_a_speakers_line_of_blanks() -> None:
    needs("graphiti_core")
    speech = import_module("memgate_graphiti.speech")
    assert growth(searched(speech._SPEAKER, lambda n: " " * n + "x"), 500) < _MOST


def test_a_repeated_secret_is_looked_for_once() -> None:
    def repeated(n: int) -> Callable[[], object]:
        text = "hunter22 " * n
        found = [Finding(at * 9, at * 9 + 8, "secret.password") for at in range(n)]
        assert len(list(_repeats(text, found))) == n
        return lambda: list(_repeats(text, found))

    assert growth(repeated, 200) < _MOST


def test_spans_are_widened_in_one_pass() -> None:
    def spread(n: int) -> Callable[[], object]:
        statements = [Span(start=at * 10, end=at * 10 + 9) for at in range(n)]
        spans = [Span(start=at * 10 + 3, end=at * 10 + 4) for at in range(n)]
        assert widened(spans, statements) == tuple(statements)
        return lambda: widened(spans, statements)

    assert growth(spread, 100) < _MOST


def test_a_messages_words_are_read_once_for_all_proposals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    content = aligning._content

    def counted(text: str) -> frozenset[str]:
        read.append(text)
        return content(text)

    monkeypatch.setattr(aligning, "_content", counted)
    turn = make_turn("We may sell the boat. The dog is ill. I might take up fencing in spring.")
    aligning.align(turn, [{"text": f"User thinks of fencing club {n}"} for n in range(20)])
    assert [read.count(clause.text) for clause in split(turn.text)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("message", "reasons"),
    [
        ("my password" + " " * 2000 + "is hunter2x!", {"secret.password"}),
        ("my password  -  reset page is slow", set()),
        ("my password is 12345678  +  letters", set()),
    ],
)
def test_blanks_do_not_change_what_is_a_password(message: str, reasons: set[str]) -> None:
    found = Screener().screen(make_turn(message)).refusals
    assert {refusal.reason for refusal in found} == reasons


def test_white_space_does_not_change_a_value() -> None:
    assert plain_value("swap  Netflix \n for" + " " * 500 + "MUBI ,  soon") == "MUBI"
    assert planned_value("undecided   between Netflix  or  MUBI", "Netflix") == "MUBI"


def test_a_passage_keeps_its_words() -> None:
    passage = "to start " + "carpooling with Denise and " * 10 + "all, maybe"
    assert plain_value(passage) == passage
