"""How well the gate does, by policy version (article: compute offline).

A rate without anything to divide by is None, never 0. Shares come with their counts, so that a
reader can tell 0 of 3 from 0 of 3,000.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Mapping
from datetime import datetime

from memgate_core import tallies
from memgate_core.errors import InvalidInputError, NotFoundError
from memgate_core.ledger.protocol import Ledger
from memgate_core.ledger.records import ApprovalStatus, Rollout
from memgate_core.model import DecisionType, Model


class Share(Model):
    """So many of so many."""

    count: int
    of: int

    @property
    def rate(self) -> float | None:
        """The share, 0 to 1; None of nothing."""
        return self.count / self.of if self.of else None


class PolicyMeasures(Model):
    """Everything counted under one policy version."""

    policy_version: str
    turns: int
    decisions: dict[str, int]
    isolated: dict[str, int]
    """Decisions that were recorded only (shadow, outside the canary, after a rollback)."""
    auto_commits: int
    taken_back_soon: Share
    """Commits of a rule that were corrected, retracted or revoked within 30 days of being
    recorded: a false_commit_rate that needs no labels, and misses what nobody noticed."""
    hold_rate: Share
    """Held, of all that might have been kept."""
    confirmation_acceptance: Share
    """Approved, of all requests that ended."""
    plans_confirmed: Share
    """Confirmed by the user's own words, of all held plans that ended."""
    duplicate_effects: int
    revocations: int
    revocation_residue: int
    protocol_conflicts: int
    replays: int
    rollbacks: int


class Measures(Model):
    """The state of a ledger at a time."""

    at: datetime
    by_policy: tuple[PolicyMeasures, ...]
    oldest_held_days: float | None
    """Age of the longest pending item, since it was first voiced (world time)."""
    open_approvals: int
    due: dict[str, int]
    """Events that each projection still has to take."""
    parked: int
    rollout: Rollout | None


class Label(Model):
    """What a person says of one auto-committed fact or proposal."""

    id: str
    """A fact or a proposal."""
    right: bool


class FalseCommits(Model):
    """false_commit_rate = incorrect auto-commits / all auto-commits looked at (article)."""

    by_policy: dict[str, Share]
    overall: Share
    passed_over: tuple[str, ...] = ()
    """Labelled ids that no rule had committed: a person approved them, or they were never kept."""


def measure(ledger: Ledger, at: datetime) -> Measures:
    """The figures as of `at` (aware), from the ledger's counters.

    Raises:
        InvalidInputError: `at` has no time zone.
    """
    if at.tzinfo is None:
        raise InvalidInputError("`at` has no time zone", hint="pass an aware datetime")
    counted = _by_version(ledger)
    oldest = ledger.oldest_pending()
    return Measures(
        at=at,
        by_policy=tuple(_measures(version, counted[version]) for version in sorted(counted)),
        oldest_held_days=None if oldest is None else (at - oldest).total_seconds() / 86_400,
        open_approvals=len(ledger.approvals(status=ApprovalStatus.AWAITING)),
        due=dict(ledger.projections()),
        parked=len(ledger.parked()),
        rollout=ledger.rollout(),
    )


def false_commit_rate(ledger: Ledger, labels: Iterable[Label]) -> FalseCommits:
    """The article's rate on a labelled sample.

    Raises:
        NotFoundError: a label's id is no fact and no proposal.
    """
    wrong: Tally[str] = Tally()
    seen: Tally[str] = Tally()
    passed_over = []
    for label in labels:
        version = _version_of_auto_commit(ledger, label.id)
        if version is None:
            passed_over.append(label.id)
            continue
        seen[version] += 1
        wrong[version] += not label.right
    return FalseCommits(
        by_policy={version: Share(count=wrong[version], of=seen[version]) for version in seen},
        overall=Share(count=wrong.total(), of=seen.total()),
        passed_over=tuple(passed_over),
    )


def _version_of_auto_commit(ledger: Ledger, found_id: str) -> str | None:
    """The policy version whose rule committed it, or None where no rule did."""
    fact = ledger.fact(found_id)
    proposal = ledger.proposal(fact.proposal_id if fact is not None else found_id)
    if fact is None and proposal is None:
        raise NotFoundError(f"nothing has the id {found_id!r}", hint="label facts or proposals")
    if fact is None and proposal is not None and proposal.fact_id is not None:
        fact = ledger.fact(proposal.fact_id)
    if proposal is not None and proposal.status == "ISOLATED":
        commits = proposal.decision.decision is DecisionType.COMMIT
        return proposal.policy_version if commits else None
    if fact is None or not fact.approved_by.startswith("rule:"):
        return None
    return proposal.policy_version if proposal is not None else ""


def _by_version(ledger: Ledger) -> dict[str, Tally[str]]:
    counted: dict[str, Tally[str]] = {}
    for counter in ledger.counters():
        counted.setdefault(counter.policy_version, Tally())[counter.name] += counter.value
    return counted


def _measures(version: str, counted: Tally[str]) -> PolicyMeasures:
    decided = _under(counted, tallies.DECIDED)
    answered = _under(counted, tallies.APPROVALS)
    resolved = _under(counted, tallies.RESOLVED)
    commits = counted[tallies.AUTO_COMMITS]
    kept = sum(decided.get(name, 0) for name in _KEPT)
    held = sum(decided.get(name, 0) for name in _HELD)
    return PolicyMeasures(
        policy_version=version,
        turns=counted[tallies.TURNS],
        decisions=decided,
        isolated=_under(counted, tallies.ISOLATED),
        auto_commits=commits,
        taken_back_soon=Share(count=counted[tallies.TAKEN_BACK], of=commits),
        hold_rate=Share(count=held, of=held + kept),
        confirmation_acceptance=_share(answered, "APPROVED"),
        plans_confirmed=_share(resolved, "confirm"),
        duplicate_effects=counted[tallies.DUPLICATES],
        revocations=counted[tallies.REVOCATIONS],
        revocation_residue=counted[tallies.RESIDUE],
        protocol_conflicts=counted[tallies.CONFLICTS],
        replays=counted[tallies.REPLAYS],
        rollbacks=counted[tallies.ROLLBACKS],
    )


_KEPT = tuple(d.value for d in (DecisionType.COMMIT, DecisionType.REAFFIRM))
_HELD = tuple(d.value for d in DecisionType if d.holds)


def _under(counted: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {
        name.removeprefix(prefix): value
        for name, value in sorted(counted.items())
        if name.startswith(prefix)
    }


def _share(counted: Mapping[str, int], name: str) -> Share:
    return Share(count=counted.get(name, 0), of=sum(counted.values()))
