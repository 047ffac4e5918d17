"""The words of this room: roles, scopes, who is asking, and what an operation may answer.

Roles are ordered: what an editor may, an admin may. A key acts with a role and only within its scopes.
Nothing here is trusted from a token: roles are read from the database for every request.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

INSTANCE = ""  # the workspace of what concerns the whole application: sign-ins, passwords


class Role(StrEnum):
    """What a member may do, the least first."""

    VIEWER = "viewer"
    EDITOR = "editor"
    ADMIN = "admin"
    OWNER = "owner"

    def covers(self, other: "Role") -> bool:
        """Say whether this role may do what `other` may."""
        order = tuple(Role)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who is asking, as the database says right now."""

    by: str  # `member:<id>`, `key:<id>` or `person:<id>`, for the audit
    person_id: str | None = None
    session_id: str | None = None
    member_id: str | None = None
    role: Role | None = None  # in the workspace that is asked about
    instance_owner: bool = False
    key_id: str | None = None
    key_of: str | None = None  # the workspace that the key belongs to
    scopes: frozenset[str] | None = None  # None: a person, who has them all
    accounts: frozenset[str] | None = None  # None: all
    publish_per_day: int | None = None

    def may_use(self, account_id: str) -> bool:
        """Say whether an account is on the caller's list."""
        return self.accounts is None or account_id in self.accounts


@dataclass(frozen=True, slots=True)
class TooOften:
    """Too many tries: come back at `until`."""

    until: datetime


@dataclass(frozen=True, slots=True)
class Wrong:
    """It does not match; which part of it is not said."""


@dataclass(frozen=True, slots=True)
class CodeNeeded:
    """The password is right, and the person has a second factor: ask for its code."""


@dataclass(frozen=True, slots=True)
class PersonRefusal:
    """Nothing was changed; `message` tells why and what to do."""

    message: str
    code: str = "refused"


@dataclass(frozen=True, slots=True)
class Missing:
    """There is nothing of that id here."""


@dataclass(frozen=True, slots=True)
class Done:
    """It is done; `id` names what it was done to."""

    id: str


def fold_email(text: str) -> str:
    """Write an address as we compare it."""
    return text.strip().casefold()
