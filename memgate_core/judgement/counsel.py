"""Asks a model, within a budget, a time and a cache, and never lets its failure out.

Judges come here with what they cannot or will not decide themselves. Whatever goes wrong (a
timeout, a refusal, nonsense, a spent budget) comes back as `Missing` rows and a noted fault: the
gate then holds what it was about.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Protocol

from memgate_core.errors import ModelFaultError
from memgate_core.judgement.budget import Budget
from memgate_core.judgement.cache import AnswerCache, Finding, key_of
from memgate_core.judgement.inquiry import (
    Findings,
    HeldFinding,
    HeldRow,
    Inquiry,
    Missing,
    Row,
    RowFinding,
)
from memgate_core.judgement.sitting import Sitting, sitting
from memgate_core.model import FieldSpec, sha256_of

_log = logging.getLogger(__name__)

ROWS_AT_ONCE = 40
"""Rows of one request. A turn rarely has more; a longer batch is asked in several requests, as far
as the budget of a turn goes: what is left over is held as unanswered."""

_UNANSWERED = Missing(reason="the model left a question unanswered")


class Cost(Protocol):
    """What an oracle reports of one request."""

    @property
    def tokens_in(self) -> int:
        """Tokens read, 0 where the model does not say."""
        ...

    @property
    def tokens_out(self) -> int:
        """Tokens written."""
        ...


class Oracle(Protocol):
    """A model that answers inquiries."""

    name: str
    """Backend, model and prompt versions: recorded with judgements, part of cache keys."""

    def answer(self, inquiry: Inquiry, *, timeout: float) -> tuple[Findings, Cost]:
        """Findings on every row that was answered as agreed, in one request.

        Raises:
            Exception: whatever keeps it from answering at all.
        """
        ...


class Counsel:
    """One model's counsel for all judges of a gate. Safe to share between threads."""

    def __init__(
        self,
        oracle: Oracle,
        *,
        budget: Budget | None = None,
        cache: AnswerCache | None = None,
        timeout: float = 20.0,
    ) -> None:
        self._oracle = oracle
        self._budget = budget or Budget()
        self._cache = cache or AnswerCache()
        self._timeout = timeout
        self.name = oracle.name

    def ask(self, inquiry: Inquiry) -> Findings:
        """An answer or a `Missing` for every row. Each row is asked once a turn at most."""
        with sitting() as account:
            left = self._unanswered(inquiry, account)
            for part in _parts(left):
                self._consult(part, account)
            return Findings(
                rows={row: _kept_row(row, account) for row in inquiry.rows},
                held={row: _kept_held(row, account) for row in inquiry.held},
            )

    def _unanswered(self, inquiry: Inquiry, account: Sitting) -> Inquiry:
        rows = tuple(r for r in dict.fromkeys(inquiry.rows) if not self._known(r, inquiry, account))
        held = tuple(h for h in dict.fromkeys(inquiry.held) if not self._known(h, inquiry, account))
        left = tuple(row for row in inquiry.unplaced if row in rows)
        return inquiry.model_copy(update={"rows": rows, "held": held, "unplaced": left})

    def _known(self, row: Row | HeldRow, inquiry: Inquiry, account: Sitting) -> bool:
        if account.kept(row) is not None:
            return True
        found = self._cache.get(self._key(row, inquiry))
        if found is not None:
            account.keep(row, found)
        return found is not None

    def _consult(self, inquiry: Inquiry, account: Sitting) -> None:
        started = perf_counter()
        try:
            self._budget.admit(account.calls)
            account.calls += 1
            findings, cost = self._oracle.answer(inquiry, timeout=self._timeout)
            account.tokens_in += cost.tokens_in
            account.tokens_out += cost.tokens_out
            self._remember(inquiry, findings, account)
        except Exception as raised:
            self._fail(inquiry, reason_of(raised), account)
        finally:
            account.ms += (perf_counter() - started) * 1000

    def _remember(self, inquiry: Inquiry, findings: Findings, account: Sitting) -> None:
        for row in inquiry.rows:
            self._keep(row, findings.rows.get(row, _UNANSWERED), inquiry, account)
        for item in inquiry.held:
            self._keep(item, findings.held.get(item, _UNANSWERED), inquiry, account)
        for row, conditions in findings.conditions.items():
            account.keep(("conditions", row), conditions)

    def _keep(
        self, row: Row | HeldRow, found: Finding | Missing, inquiry: Inquiry, account: Sitting
    ) -> None:
        account.keep(row, found)
        if isinstance(row, Row) and account.kept(row.bare) is None:
            account.keep(row.bare, found)
        if isinstance(found, Missing):
            account.fault(found.reason)
        else:
            self._cache.put(self._key(row, inquiry), found)

    def _fail(self, inquiry: Inquiry, reason: str, account: Sitting) -> None:
        _log.warning("model backend %s: %s", self.name, reason)
        account.fault(reason)
        everything: list[Row | HeldRow] = [*inquiry.rows, *inquiry.held]
        for row in everything:
            self._keep(row, Missing(reason=reason), inquiry, account)

    def _key(self, row: Row | HeldRow, inquiry: Inquiry) -> str:
        unplaced = isinstance(row, Row) and row in inquiry.unplaced
        return key_of(self.name, row, _digest(inquiry.fields) if unplaced else "")


def _parts(inquiry: Inquiry) -> Iterator[Inquiry]:
    """The inquiry in requests of bearable size."""
    rows, held = inquiry.rows, inquiry.held
    while rows or held:
        part = rows[:ROWS_AT_ONCE]
        left = tuple(row for row in inquiry.unplaced if row in part)
        yield inquiry.model_copy(update={"rows": part, "held": held, "unplaced": left})
        rows, held = rows[ROWS_AT_ONCE:], ()


def _kept_row(row: Row, account: Sitting) -> RowFinding | Missing:
    kept = account.kept(row)
    return kept if isinstance(kept, RowFinding | Missing) else _UNANSWERED


def _kept_held(row: HeldRow, account: Sitting) -> HeldFinding | Missing:
    kept = account.kept(row)
    return kept if isinstance(kept, HeldFinding | Missing) else _UNANSWERED


def reason_of(raised: Exception) -> str:
    """Why, in words that hold nothing of what was asked."""
    if isinstance(raised, ModelFaultError):
        return str(raised)
    response = getattr(raised, "response", None)
    status = getattr(response, "status_code", None) or getattr(raised, "status_code", None)
    kind = type(raised).__name__
    return f"the model failed: {kind}" + (f" (status {status})" if status else "")


def _digest(fields: Sequence[FieldSpec]) -> str:
    return sha256_of("\n".join(f"{f.attribute}: {f.description}" for f in fields))
