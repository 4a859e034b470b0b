"""Messages as people type them, cut into statements."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memgate_core.extraction.blocks import BlockKind
from memgate_core.extraction.clauses import split


def texts(message: str) -> list[str]:
    return [clause.text for clause in split(message)]


@pytest.mark.parametrize(
    ("message", "statements"),
    [
        (
            "I prefer window seats, could you book the 7:15?",
            ["I prefer window seats", "could you book the 7:15?"],
        ),
        (
            "I've been thinking about maybe moving to Porto, my aunt lives there.",
            ["I've been thinking about maybe moving to Porto", "my aunt lives there."],
        ),
        (
            "sold the moped but i might keep the helmet",
            ["sold the moped", "but i might keep the helmet"],
        ),
        (
            "we finally got the keys and now the boiler is making a noise",
            ["we finally got the keys", "and now the boiler is making a noise"],
        ),
        ("I sold the canoe and might buy a kayak", ["I sold the canoe", "and might buy a kayak"]),
        (
            "got the job!!! starting on monday 🎉 my mum cried",
            ["got the job!!!", "starting on monday 🎉 my mum cried"],
        ),
        ("we moved lol i miss the old kitchen", ["we moved lol", "i miss the old kitchen"]),
        (
            "I moved out of Hull; I live in Goole now - it's quieter",
            ["I moved out of Hull", "I live in Goole now", "it's quieter"],
        ),
        (
            "Ich bin umgezogen. Jetzt wohne ich in Bremen.",
            ["Ich bin umgezogen.", "Jetzt wohne ich in Bremen."],
        ),
        ("先週引っ越しました。今は神戸です。", ["先週引っ越しました。", "今は神戸です。"]),
        ("انتقلت الشهر الماضي؟ نعم", ["انتقلت الشهر الماضي؟", "نعم"]),
    ],
)
def test_statements_that_assert_different_things_come_apart(
    message: str, statements: list[str]
) -> None:
    assert texts(message) == statements


@pytest.mark.parametrize(
    "message",
    [
        "if the survey is fine, we complete in June",
        "When the lease is up we move to Ghent and I take the job at the port",
        "unless they fix the damp by the first I'm giving notice and it's my sister's sofa for me",
        "we exchange on Friday and the van comes Saturday if the bank says yes",
        "Maybe we move to Ghent and I take the job at the port",
        "she said she lives in Mainz and she hates the trams",
        "I was going to sell the boat but my son wants it",
        "We're leaving in May, I think",
        "it's in Leith, isn't it",
        "we're off the meat for good, honest",
        "so I can finally cycle to work",
        "my husband and I are both left-handed",
        "I bought tea, the blue cups and two plates",
        "the more we talk about it the more I like it",
        "I'm either staying at the dairy or going back to school",
        "Dr. Osei said no. 5 is the good chair, e.g. for tall people",
        "he wrote 'I live in Kiel. I love it here. Come over!' on the card",
        "some days I want the dog and other days I remember the sofa",
    ],
)
def test_a_statement_keeps_its_hedge_condition_or_report(message: str) -> None:
    assert texts(message) == [message]


def test_a_clause_is_not_cut_off_from_the_day_it_points_at() -> None:
    message = "billing rolls over on the 9th and that's the day I swap it"
    assert texts(message) == [message]


def test_lists_quotes_and_code_are_blocks_of_their_own() -> None:
    message = (
        "my week:\n- swim on Monday\n2. choir\n> I live in Rome\n```py\nx = 1\n\ny = 2\n```\nok?"
    )
    assert [(c.text, c.kind) for c in split(message)] == [
        ("my week:", BlockKind.PROSE),
        ("swim on Monday", BlockKind.ITEM),
        ("choir", BlockKind.ITEM),
        ("I live in Rome", BlockKind.QUOTE),
        ("```py\nx = 1\n\ny = 2\n```", BlockKind.CODE),
        ("ok?", BlockKind.PROSE),
    ]


def test_hard_wrapped_text_goes_on_and_short_lines_do_not() -> None:
    wrapped = "We have decided after a great deal of back and forth that the orchard\nwill be let this year."
    assert texts(wrapped) == [wrapped]
    assert texts("moved house\nnew job too") == ["moved house", "new job too"]


def test_a_wholly_quoted_statement_is_marked() -> None:
    quoted = split('"I live in Rome and I love it."')
    assert [clause.quoted for clause in quoted] == [True]
    assert not split("I live in Rome.")[0].quoted


def test_nothing_is_found_where_nothing_is_said() -> None:
    assert split("") == []
    assert split("👍 !!! …\n---") == []


def test_clauses_of_a_sentence_share_its_number() -> None:
    assert [c.sentence for c in split("I moved, my cat hates it. Help!")] == [0, 0, 1]


@pytest.mark.parametrize(
    "message", ["word " * 60_000, "I go and " * 30_000, "'a \"([" * 40_000, "x" * 300_000]
)
def test_a_huge_message_is_cut_in_linear_time_and_short_pieces(message: str) -> None:
    clauses = split(message)
    assert clauses
    assert max(len(clause.text) for clause in clauses) <= 1000


_PIECES = st.sampled_from(
    [
        "I",
        "we",
        "my",
        "dad",
        "might",
        "moved",
        "to",
        "Leeds",
        "but",
        "and",
        "so",
        "if",
        ",",
        ".",
        "!",
        "?",
        "…",
        ";",
        "-",
        "—",
        "\n",
        ">",
        "```",
        "'",
        '"',
        "(",
        ")",
        "😭",
        ":)",
        "it's",
        "don’t",
        "9:40",
        "Dr.",
        "because",
        "lol",
        "今は。",
        "\x00",
        "\u202e",
        "é",
        "ß",
        "1.",
        "-",
        "*",
        "[x]",
        "https://a.b/c?d=e",
    ]
)


@settings(max_examples=200)
@given(st.one_of(st.text(max_size=120), st.lists(_PIECES, max_size=40).map(" ".join)))
@example("a\r\nb\x0bc\u2028d\x85e")
@example("1. one\n1) two")
@example("[X] 0")
@example("- [x] done")
def test_spans_are_exact_ordered_disjoint_and_hold_every_letter(message: str) -> None:
    clauses = split(message)
    covered: set[int] = set()
    at = 0
    for number, clause in enumerate(clauses):
        assert clause.ordinal == number
        assert clause.span.of(message) == clause.text
        assert clause.span.start >= at
        at = clause.span.end
        covered |= set(range(clause.span.start, clause.span.end))
    letters = {i for i, ch in enumerate(message) if ch.isalpha()}
    assert letters <= covered


@settings(max_examples=50)
@given(st.text(max_size=80))
def test_the_same_message_is_always_cut_the_same_way(message: str) -> None:
    assert split(message) == split(message)
