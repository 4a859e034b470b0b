"""The rule matrix: the article's rows, the paper's routing, and where they meet."""

import pytest

from memgate_core.errors import ConfigurationError
from memgate_core.model import DecisionType as D
from memgate_core.model import EvidenceType as E
from memgate_core.model import Sensitivity, Source, Standing
from memgate_core.policy.case import Case, Relation
from memgate_core.policy.matrix import HARD_RULES, RULES, Matrix, Rule

MATRIX = Matrix()


@pytest.mark.parametrize(
    ("case", "decision", "rule"),
    [
        # the article's four rows
        (Case(evidence=E.OTHER, registered=True), D.COMMIT, "new_fact"),
        (Case(evidence=E.OTHER, secret=True), D.REJECT, "secret"),
        (Case(evidence=E.OTHER, cross_tenant=True), D.REJECT, "cross_tenant"),
        (Case(evidence=E.OTHER, exact=False), D.REJECT, "missing_evidence"),
        (
            Case(evidence=E.OTHER, inferred=True, registered=True),
            D.NEEDS_CONFIRMATION,
            "inferred_new",
        ),
        (
            Case(evidence=E.OTHER, inferred=True, relation=Relation.DIFFERENT),
            D.CONFIRM_REPLACE,
            "inferred_replacement",
        ),
        # the paper's routing
        (Case(evidence=E.SPECULATION, registered=True), D.STAGE, "speculation"),
        (Case(evidence=E.SPECULATION), D.STAGE, "speculation"),
        (
            Case(evidence=E.COMPLETED_EVENT, registered=True, relation=Relation.DIFFERENT),
            D.COMMIT,
            "superseding",
        ),
        (
            Case(evidence=E.CORRECTION, registered=True, relation=Relation.DIFFERENT),
            D.COMMIT,
            "correction",
        ),
        # the rulings
        (Case(evidence=E.OTHER, relation=Relation.SAME), D.REAFFIRM, "known"),
        (Case(evidence=E.OTHER, lasting=False), D.IGNORE, "nothing_lasting"),
        (
            Case(evidence=E.OTHER, standing=Standing.TEMPORARY, registered=True),
            D.IGNORE,
            "temporary",
        ),
        (Case(evidence=E.OTHER, source=Source.TOOL), D.REJECT, "foreign_words"),
        (Case(evidence=E.OTHER, tainted=True), D.REJECT, "tainted"),
        (
            Case(evidence=E.OTHER, source=Source.ASSISTANT, registered=True),
            D.NEEDS_CONFIRMATION,
            "assistant_guess",
        ),
        (Case(evidence=E.OTHER, source=Source.ASSISTANT), D.IGNORE, "assistant_words"),
        (
            Case(evidence=E.OTHER, standing=Standing.OTHER_PERSON, registered=True),
            D.REJECT,
            "other_person",
        ),
        (
            Case(evidence=E.OTHER, sensitivity=Sensitivity.HIGH, inferred=True, registered=True),
            D.NEEDS_CONFIRMATION,
            "sensitive_inference",
        ),
        (
            Case(evidence=E.OTHER, raced=True, registered=True, relation=Relation.DIFFERENT),
            D.CONFIRM_REPLACE,
            "lost_race",
        ),
        (
            Case(evidence=E.OTHER, late=True, registered=True, relation=Relation.DIFFERENT),
            D.CONFLICT,
            "late_arrival",
        ),
        (
            Case(evidence=E.COMPLETED_EVENT, doubtful=True, registered=True),
            D.STAGE,
            "doubtful",
        ),
        (Case(evidence=E.CORRECTION), D.IGNORE, "correction_of_nothing"),
        (Case(evidence=E.OTHER, unjudged=True), D.STAGE, "unjudged"),
        (
            Case(evidence=E.COMPLETED_EVENT, registered=True, valid=False),
            D.REJECT,
            "malformed_value",
        ),
    ],
)
def test_each_row(case: Case, decision: D, rule: str) -> None:
    decided = MATRIX.decide(case)
    assert (decided.decision, decided.rule) == (decision, rule)


def test_every_built_in_row_is_reached_by_a_test_above() -> None:
    rows = {
        mark.args[1][i][2] for mark in test_each_row.pytestmark for i in range(len(mark.args[1]))
    }
    untested = {rule.name for rule in (*HARD_RULES, *RULES)} - rows
    assert untested == {"not_asserted", "speculation_known", "negated", "past_state"}


@pytest.mark.parametrize(
    ("standing", "rule"),
    [
        (Standing.QUOTED, "not_asserted"),
        (Standing.NON_LITERAL, "not_asserted"),
        (Standing.NEGATED, "negated"),
        (Standing.PAST, "past_state"),
    ],
)
@pytest.mark.parametrize("evidence", list(E))
def test_what_the_user_does_not_assert_is_never_current(
    standing: Standing, rule: str, evidence: E
) -> None:
    decided = MATRIX.decide(Case(evidence=evidence, standing=standing, registered=True))
    assert decided.decision is D.IGNORE
    assert decided.rule == rule


def test_a_plan_to_keep_what_holds_changes_nothing() -> None:
    case = Case(evidence=E.SPECULATION, relation=Relation.SAME, registered=True)
    assert MATRIX.decide(case).rule == "speculation_known"


def test_no_speculation_ever_commits_whatever_else_is_true() -> None:
    for standing in Standing:
        for relation in Relation:
            for registered in (True, False):
                case = Case(
                    evidence=E.SPECULATION,
                    standing=standing,
                    relation=relation,
                    registered=registered,
                )
                assert MATRIX.decide(case).decision is not D.COMMIT


def test_a_users_row_comes_before_the_built_in_ones_but_after_the_hard_ones() -> None:
    mine = Rule(name="no_events", when={"evidence": E.COMPLETED_EVENT}, then=D.IGNORE, reason="x")
    matrix = Matrix([mine])
    assert matrix.decide(Case(evidence=E.COMPLETED_EVENT)).rule == "no_events"
    assert matrix.decide(Case(evidence=E.COMPLETED_EVENT, secret=True)).rule == "secret"
    assert matrix.version != Matrix().version


def test_a_rule_name_used_twice_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="secret"):
        Matrix([Rule(name="secret", when={}, then=D.COMMIT, reason="x")])


def test_an_unknown_column_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="no column 'mood'"):
        Rule(name="x", when={"mood": "good"}, then=D.COMMIT, reason="x")
