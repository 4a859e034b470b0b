"""Whose rows: the two columns that every statement is confined by."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, FromClause, and_, bindparam

from memgate_core.errors import InvalidInputError, NotAllowedError
from memgate_core.model import FieldKey, Subject

_SEPARATOR = "\x1f"

NO_LIMIT = 2**62


class Owner(NamedTuple):
    """One subject's rows."""

    subject: Subject
    params: dict[str, Any]
    """Values of the statements' `tenant` and `subject_id`."""

    @property
    def lock(self) -> str:
        """Name of the lock that the subject's transactions take turns on."""
        return f"{self.params['tenant']}{_SEPARATOR}{self.params['subject_id']}"

    def require(self, key: FieldKey) -> None:
        """Refuses a key of anybody else.

        Raises:
            NotAllowedError: the key is another subject's.
        """
        if key.subject is not self.subject and key.subject != self.subject:
            raise NotAllowedError("the key belongs to another subject", hint="nothing was written")


def owner_of(subject: Subject) -> Owner:
    """The rows of a subject.

    Raises:
        InvalidInputError: the user id holds the character that sets user and actor apart, so it
            could be taken for another profile.
    """
    if _SEPARATOR in subject.user_id or _SEPARATOR in subject.tenant:
        raise InvalidInputError("a user id or tenant with the control character U+001F")
    return Owner(subject, {"tenant": subject.tenant, "subject_id": subject.subject_id})


def owned(table: FromClause) -> ColumnElement[bool]:
    """The condition that confines a statement to one owner."""
    return and_(
        table.c.tenant == bindparam("tenant"), table.c.subject_id == bindparam("subject_id")
    )
