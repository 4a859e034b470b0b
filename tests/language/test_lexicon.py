"""Word forms from the packaged tables, checked against the library's own answers."""

from __future__ import annotations

import subprocess
import sys

import lemminflect
import pytest

from memgate_core.language.lexicon import (
    Tag,
    inflect,
    is_adjective,
    is_noun,
    noun_lemma,
    verb_lemma,
    verb_readings,
)

VERBS = [
    "sell",
    "buy",
    "move",
    "renew",
    "quit",
    "go",
    "have",
    "put",
    "try",
    "stop",
    "write",
    "drive",
    "teach",
    "keep",
    "leave",
    "begin",
    "run",
    "lie",
]


@pytest.mark.parametrize("verb", VERBS)
def test_inflection_agrees_with_the_library(verb: str) -> None:
    for tag in (Tag.PAST, Tag.PARTICIPLE, Tag.GERUND, Tag.PRESENT):
        assert inflect(verb, tag) in lemminflect.getInflection(verb, str(tag))


@pytest.mark.parametrize(
    ("form", "lemma"),
    [("sold", "sell"), ("moving", "move"), ("went", "go"), ("lives", "live"), ("was", "be"),
     ("yeeted", "yeet"), ("texted", "text"), ("rehomed", "rehome"), ("found", "find")],
)  # fmt: skip
def test_lemmas_of_verbs(form: str, lemma: str) -> None:
    assert verb_lemma(form) == lemma


def test_words_that_are_no_verbs() -> None:
    assert verb_readings("kieran") == ()
    assert verb_lemma("piano") is None


def test_regular_forms_of_words_no_table_knows() -> None:
    assert [inflect("yeet", tag) for tag in Tag] == ["yeet", "yeets", "yeeted", "yeeted", "yeeting"]
    assert inflect("vlog", Tag.PAST) == "vlogged"


def test_singulars() -> None:
    assert [noun_lemma(w) for w in ("seats", "children", "glasses", "leaves", "under-9s")] == [
        "seat", "child", "glass", "leaf", "under-9",
    ]  # fmt: skip


def test_readings_of_ambiguous_words() -> None:
    assert is_noun("lives")
    assert is_adjective("blue")
    assert {r.tag for r in verb_readings("put")} == {Tag.BASE, Tag.PAST, Tag.PARTICIPLE}


def test_the_tables_load_neither_numpy_nor_the_library() -> None:
    code = (
        "import sys; from memgate_core.language.lexicon import verb_lemma; verb_lemma('sold');"
        "assert 'numpy' not in sys.modules and 'lemminflect' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
