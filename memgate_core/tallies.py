"""What the gate counts while it works: the names of the counters, and when each grows.

A counter grows in the transaction of what it counts, under the policy version that decided it.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from memgate_core import telemetry
from memgate_core.book import Book
from memgate_core.ledger.protocol import Ledger
from memgate_core.model import Fact, Judged, Receipt, ResolutionType

TURNS = "turns"
DECIDED = "decided."
"""Prefix; then the decision's name. Recorded-only decisions count under `isolated.`."""
ISOLATED = "isolated."
RESOLVED = "resolved."
"""Prefix; then confirm or abandon."""
AUTO_COMMITS = "auto_commits"
"""Facts that a rule committed, with no person asked."""
TAKEN_BACK = "auto_commits.taken_back"
"""Of those: corrected, retracted or revoked within `SOON` of being recorded."""
REPLAYS = "replays"
"""Turns that came again and were answered from the record."""
DUPLICATES = "duplicate_effects"
"""Native writes beyond the first for one version of one fact."""
RESIDUE = "revocation_residue"
"""Traces found after a revocation in places that a read can reach."""
REVOCATIONS = "revocations"
ROLLBACKS = "rollbacks"
CONFLICTS = "protocol_conflicts"
"""Proposals that came again with another payload; the ledger counts these itself."""
APPROVALS = "approvals."
"""Prefix; then APPROVED, DECLINED or LAPSED."""

SOON = timedelta(days=30)
"""How long a commit is on probation."""


def tally_turn(book: Book, receipt: Receipt) -> None:
    """Counts one recorded turn."""
    amounts: Counter[str] = Counter({TURNS: 1})
    for judged in receipt.judged:
        amounts[_decided(judged)] += 1
        amounts[AUTO_COMMITS] += _is_auto_commit(judged)
    for resolved in receipt.resolved if not receipt.shadow else ():
        confirmed = resolved.resolution is ResolutionType.CONFIRM
        amounts[RESOLVED + ("confirm" if confirmed else "abandon")] += 1
    for name, by in amounts.items():
        if by:
            book.tx.count(name, book.policy_version, by)


def tally_taken_back(book: Book, ledger: Ledger, fact: Fact) -> None:
    """Counts a fact that a rule had committed and that turns out not to hold, soon after."""
    by_rule = fact.approved_by.startswith("rule:")
    if not by_rule or fact.closed_at is not None or book.recorded_at - fact.recorded_at > SOON:
        return
    proposal = ledger.proposal(fact.proposal_id)
    version = proposal.policy_version if proposal is not None else book.policy_version
    book.tx.count(TAKEN_BACK, version)
    telemetry.counted(TAKEN_BACK, version)


def _decided(judged: Judged) -> str:
    return (ISOLATED if judged.recorded_only else DECIDED) + judged.decision.decision.value


def _is_auto_commit(judged: Judged) -> bool:
    return judged.fact_id is not None and judged.decision.decision.value == "COMMIT"
