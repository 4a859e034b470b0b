"""The commit switch: how far decisions reach, who set it, and why it was thrown.

The state stands in the ledger, so every process of a deployment obeys the same one; it is read in
each turn's own transaction. A hard rollback stops commits at once and everywhere: turns are then
recorded only, and reads go on as the previous policy version had left them (article: rollback).
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from memgate_core import telemetry
from memgate_core.errors import ConfigurationError, NotAllowedError
from memgate_core.ledger.protocol import Ledger
from memgate_core.ledger.records import Rollout
from memgate_core.policy.approvals import require_person
from memgate_core.policy.rollout import Mode, Reach, mode_of
from memgate_core.tallies import ROLLBACKS

_GATE = "gate"
_log = logging.getLogger(__name__)


class CommitSwitch:
    """A person's hand on the rollout. `policy_version`: of the rule matrix that this gate runs."""

    def __init__(self, ledger: Ledger, policy_version: str) -> None:
        self._ledger, self._policy_version = ledger, policy_version

    def show(self) -> Rollout:
        """The state in force; without one ever set, everything is on."""
        return self._ledger.rollout() or _initial(self._policy_version)

    def set(
        self, mode: str, *, by: str, percent: float | None = None, clear: bool = False
    ) -> Rollout:
        """Sets the mode for every process on this ledger, and rolls out this gate's policy.

        `percent`: with `canary`, the share of low-risk keys, 0 to 100. `clear`: ends a rollback;
        reads then show everything again.

        Raises:
            ConfigurationError: an unknown mode, a share outside 0 to 100, or without `canary`.
            NotAllowedError: a rollback is in force and `clear` was not given, or somebody else
                changed the state at this moment. InvalidInputError, ApprovalError: as
                `require_person`.
        """
        person, chosen = require_person(by), mode_of(mode)
        share = _share(chosen, percent)
        before = self.show()
        if before.tripped is not None and not clear:
            raise NotAllowedError(
                f"commits were stopped: {before.tripped}",
                hint="when that is understood and mended, set the mode with clear",
            )
        after = self._rolled_out(before).model_copy(
            update={
                "mode": chosen.value,
                "canary_percent": share,
                "tripped": None,
                "tripped_at": None,
                "reads_policy_version": None,
                "reads_as_recorded": None,
                "changed_at": datetime.now(UTC),
                "changed_by": person,
            }
        )
        return self._ledger.set_rollout(after)

    def roll_back(self, why: str, *, by: str) -> Rollout:
        """A person's hard rollback.

        Raises:
            InvalidInputError, ApprovalError: as `require_person`.
        """
        return trip(self._ledger, why, policy_version=self._policy_version, by=require_person(by))

    def _rolled_out(self, before: Rollout) -> Rollout:
        if before.policy_version == self._policy_version and before.policy_since is not None:
            return before
        known = before.revision > 0 and before.policy_version != self._policy_version
        return before.model_copy(
            update={
                "policy_version": self._policy_version,
                "policy_since": datetime.now(UTC),
                "previous_policy_version": before.policy_version
                if known
                else before.previous_policy_version,
            }
        )


def reach_of(state: Rollout | None) -> Reach:
    """How far decisions reach under a state; without one, everywhere."""
    if state is None:
        return Reach()
    return Reach(mode=Mode(state.mode), percent=state.canary_percent, tripped=state.tripped)


def trip(ledger: Ledger, why: str, *, policy_version: str = "", by: str = _GATE) -> Rollout:
    """Stops all commits on this ledger, at once and for every process. Already stopped: as it is.

    `why` names ids and places, never a user's words. Not to be called inside a transaction.
    """
    while True:
        before = ledger.rollout() or _initial(policy_version)
        if before.tripped is not None:
            return before
        try:
            after = ledger.set_rollout(_tripped(before, why, by))
        except NotAllowedError:  # somebody changed it at this moment: look again
            continue
        ledger.count(ROLLBACKS, after.policy_version)
        telemetry.counted(ROLLBACKS, after.policy_version)
        _log.error("commits are stopped: %s", why)
        return after


def _tripped(before: Rollout, why: str, by: str) -> Rollout:
    now = datetime.now(UTC)
    falls_back = before.previous_policy_version is not None
    return before.model_copy(
        update={
            "tripped": why,
            "tripped_at": now,
            "reads_policy_version": before.previous_policy_version,
            "reads_as_recorded": before.policy_since if falls_back else None,
            "changed_at": now,
            "changed_by": by,
        }
    )


def _initial(policy_version: str) -> Rollout:
    return Rollout(
        mode=Mode.ON.value,
        policy_version=policy_version,
        changed_at=datetime.fromtimestamp(0, UTC),
        changed_by=_GATE,
    )


def _share(mode: Mode, percent: float | None) -> float:
    if mode is not Mode.CANARY:
        if percent is not None:
            raise ConfigurationError(f"a share of keys makes no sense with mode {mode.value}")
        return 0.0
    if percent is None or not 0.0 <= percent <= 100.0:
        raise ConfigurationError("canary needs a share of low-risk keys, 0 to 100 percent")
    return percent
