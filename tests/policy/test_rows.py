"""Rows of one's own: read from TOML, refused by name, and never a way to commit a plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from memgate_core import DecisionType
from memgate_core.errors import ConfigurationError, NotFoundError
from memgate_core.model import EvidenceType, Source
from memgate_core.policy.case import Case, Relation
from memgate_core.policy.matrix import Matrix, Rule
from memgate_core.policy.rows import parse_rules, require_safe, rules_from_toml
from memgate_core.policy.table import case_of, explain, row, show

GOOD = """
[[rule]]
name = "asks_when_sensitive"
when = { registered = true, sensitivity = "high" }
then = "NEEDS_CONFIRMATION"
reason = "asks before it keeps anything sensitive"

[[rule]]
name = "trusts_corrections"
when = { evidence = "correction", source = "user", relation = ["none", "different"] }
then = "COMMIT"
reason = "takes corrections at once"
corrects = true
"""


def test_rows_are_read_in_order_and_decide(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(GOOD, encoding="utf-8")
    rules = rules_from_toml(path)
    assert [rule.name for rule in rules] == ["asks_when_sensitive", "trusts_corrections"]
    matrix = Matrix(rules)
    sensitive = case_of({"evidence": "other", "registered": True, "sensitivity": "high"})
    assert matrix.decide(sensitive).rule == "asks_when_sensitive"
    corrected = Case(evidence=EvidenceType.CORRECTION, relation=Relation.DIFFERENT)
    assert matrix.decide(corrected).rule == "trusts_corrections"
    assert matrix.decide(corrected).corrects


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[[rule]", "rules.toml"),
        ("[rules]\nx = 1", "unknown key 'rules'"),
        ("rule = 3", "must be tables"),
        ("[[rule]]\nname='x'\nthen='IGNORE'\nreason='r'\nwhen={}\nmood=1", "unknown key 'mood'"),
        ("[[rule]]\nname='x'\nthen='IGNORE'\nreason='r'", "when"),
        ("[[rule]]\nname='x'\nthen='MAYBE'\nreason='r'\nwhen={}", "then"),
        ("[[rule]]\nname='x'\nthen='IGNORE'\nreason='r'\nwhen={mood='bad'}", "no such column"),
        (
            "[[rule]]\nname='x'\nthen='IGNORE'\nreason='r'\nwhen={evidence='plan'}",
            "'plan' is no value",
        ),
        ("[[rule]]\nname='x'\nthen='IGNORE'\nreason='r'\nwhen={secret='yes'}", "'yes' is no value"),
        ("[[rule]]\nname='x'\nthen='IGNORE'\nreason='r'\nwhen={secret=1}", "1 is no value"),
        ("[[rule]]\nname='x'\nthen='IGNORE'\nreason='r'\nwhen={source=[true]}", "is no value"),
    ],
)
def test_a_malformed_row_is_refused_by_name(text: str, named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        parse_rules(text, "rules.toml")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.toml"):
        rules_from_toml(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "when",
    [
        {},
        {"evidence": EvidenceType.OTHER},
        {"source": Source.USER},
        {"evidence": set(EvidenceType), "source": Source.USER},
        {"evidence": EvidenceType.OTHER, "source": {Source.USER, Source.ASSISTANT}},
    ],
)
def test_no_row_commits_plans_or_foreign_words(when: dict[str, object]) -> None:
    rule = Rule(name="x", when=when, then=DecisionType.COMMIT, reason="r")
    with pytest.raises(ConfigurationError, match="a row that commits must name"):
        require_safe(rule)


# --- printed and explained ---------------------------------------------------------------------------


def test_the_table_is_shown_whole_and_in_order() -> None:
    table = show(Matrix(parse_rules(GOOD, "rules.toml")))
    origins = [found.origin for found in table.rows]
    assert origins == sorted(origins, key=["hard", "own", "built-in"].index)
    assert [found.place for found in table.rows] == list(range(1, len(table.rows) + 1))
    mine = row(Matrix(parse_rules(GOOD, "rules.toml")), "trusts_corrections")
    assert mine.when["relation"] == ("different", "none")
    assert table.model_validate_json(table.model_dump_json()) == table
    with pytest.raises(NotFoundError, match="no rule 'nothing'"):
        row(Matrix(), "nothing")


def test_a_case_is_explained_row_by_row() -> None:
    case = case_of({"evidence": "speculation", "registered": True, "relation": "different"})
    explained = explain(Matrix(), case)
    assert explained.decision.rule == "speculation"
    assert explained.steps[-1].row == "speculation"
    assert [step.decides for step in explained.steps] == [False] * (len(explained.steps) - 1) + [
        True
    ]
    known = next(step for step in explained.steps if step.row == "speculation_known")
    assert known.because == ("relation is different, not same",)


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({}, "evidence"),
        ({"evidence": "other", "mood": "x"}, "mood"),
        ({"evidence": "x"}, "evidence"),
    ],
)
def test_a_case_that_cannot_be_is_refused_by_column(columns: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigurationError, match=f"case.{named}"):
        case_of(columns)
