"""Contacts as values: a person with addresses on channels, consent, tags and the workspace's own fields.

Everything that is refused here is refused with a code, so that a form, an import and an agent hear the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from math import isfinite
from typing import Any, Literal, TypeAlias

import msgspec

Value: TypeAlias = str | float | int
FieldKind: TypeAlias = Literal["text", "number", "date", "choice"]
LONGEST_NAME = 200
LONGEST_TEXT = 2_000  # signs of a field's text or of a proof
LONGEST_KEY = 200  # signs of a value that is filtered by
MOST_TAGS = 100
MOST_ADDRESSES = 50
MOST_FIELDS = 200


class Consent(StrEnum):
    """Whether the person agreed to be written to."""

    UNKNOWN = "unknown"
    GIVEN = "given"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Address:
    """One way to a person: `address` is the one spelling, `written` the one to write to."""

    channel: str
    address: str
    written: str
    domain: str | None = None
    flag: str | None = None  # role, disposable


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the workspace's own."""

    key: str
    label: str
    kind: FieldKind
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """A person, as kept."""

    workspace_id: str
    id: str
    external_id: str | None
    first_name: str
    last_name: str
    company: str
    country: str | None
    zone: str | None
    zone_guessed: bool
    language: str | None
    consent: Consent
    consent_at: datetime | None
    consent_proof: str | None
    source: str
    source_at: datetime | None
    source_proof: str | None
    fields: Mapping[str, Value]
    import_id: str | None
    revision: int
    created_at: datetime
    updated_at: datetime
    import_revision: int | None = None  # as the import that created it left it
    addresses: tuple[Address, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What to call the person in a list."""
        whole = f"{self.first_name} {self.last_name}".strip()
        return whole or self.company or (self.addresses[0].written if self.addresses else self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactForm:
    """What is known of a person; what is None is left as it is."""

    external_id: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    company: str | None = None
    country: str | None = None
    zone: str | None = None
    language: str | None = None
    consent: str | None = None
    consent_at: datetime | None = None
    consent_proof: str | None = None
    source: str | None = None
    source_at: datetime | None = None
    source_proof: str | None = None
    fields: Mapping[str, Value | None] = field(default_factory=dict[str, Value | None])
    addresses: Sequence[tuple[str, str]] | None = None  # (channel, as written)
    tags: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Invalid:
    """A value that cannot be kept: where, why (a code), and what to do."""

    column: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class AddressTaken:
    """The address belongs to another contact: change that one, or merge the two."""

    channel: str
    address: str
    contact_id: str


@dataclass(frozen=True, slots=True)
class ExternalIdTaken:
    """Another contact has this key of the other system."""

    contact_id: str


@dataclass(frozen=True, slots=True)
class NoSuchContact:
    """There is no such contact in the workspace."""

    id: str


@dataclass(frozen=True, slots=True)
class Stale:
    """Somebody changed it meanwhile."""

    revision: int


def contacts_lock(workspace_id: str) -> str:
    """Name the lock of every write to a workspace's contacts, audiences and fields."""
    return f"contacts:{workspace_id}"


def fold(text: str) -> str:
    """Return the spelling that search and filters go by."""
    return " ".join(text.casefold().split())[:LONGEST_KEY]


def read_tag(text: str) -> str | Invalid:
    """Return a tag in its one spelling."""
    tag = " ".join(text.split()).casefold()
    if not tag or len(tag) > 60 or not tag.isprintable() or "," in tag or ";" in tag:
        return Invalid("tags", "bad_tag", "a tag has 1 to 60 characters, without commas")
    return tag


def read_value(known: Field, raw: object) -> Value | Invalid:
    """Read one value of a field of the workspace's own."""
    column = f"fields.{known.key}"
    text = str(raw).strip()
    if len(text) > LONGEST_TEXT or "\x00" in text:
        return Invalid(column, "too_long", f"at most {LONGEST_TEXT:,} characters")
    match known.kind:
        case "number":
            return _read_number(column, text)
        case "date":
            return _read_date(column, text)
        case "choice":
            folded = {fold(each): each for each in known.choices}
            if fold(text) not in folded:
                return Invalid(column, "not_a_choice", f"one of {', '.join(known.choices)}")
            return folded[fold(text)]
        case "text":
            return text


def _read_number(column: str, text: str) -> float | int | Invalid:
    plain = text.replace("\u00a0", "").replace(" ", "").replace("'", "")
    if "," in plain:  # 1,234.5 and 1.234,5 and 3,5
        last = max(plain.rfind(","), plain.rfind("."))
        decimal = plain[last] == "." or (plain.count(",") == 1 and len(plain) - last != 4)
        whole = plain[:last].replace(",", "").replace(".", "")
        plain = f"{whole}.{plain[last + 1 :]}" if decimal else plain.replace(",", "")
    try:
        number = float(plain)
    except ValueError:
        return Invalid(column, "not_a_number", "write a number such as 12 or 3.5")
    if not isfinite(number) or "_" in plain:
        return Invalid(column, "not_a_number", "write a number such as 12 or 3.5")
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _read_date(column: str, text: str) -> str | Invalid:
    try:
        return date.fromisoformat(text[:10] if text[10:11] in ("T", " ") else text).isoformat()
    except ValueError:
        return Invalid(column, "not_a_date", "write a date as 2026-11-18")


def filter_key(known: Field, value: Value) -> tuple[str | None, float | None]:
    """Return a value as it is filtered by: a text or a number."""
    if known.kind == "number":
        return None, float(value)
    return (str(value) if known.kind == "date" else fold(str(value))), None


def decode_fields(text: str) -> dict[str, Value]:
    """Read the JSON of a contact's fields."""
    return msgspec.json.decode(text, type=dict[str, Any])


def encode_fields(fields: Mapping[str, Value]) -> str:
    """Write the JSON of a contact's fields."""
    return msgspec.json.encode(dict(sorted(fields.items()))).decode() if fields else "{}"
