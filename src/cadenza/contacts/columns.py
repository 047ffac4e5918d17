"""Which column of a file is what: suggested by name, or as it was the last time, and what rows say then.

A file's column goes to one of ours (`TARGETS`), to another network's handle (`channel:x`), to a field of the
workspace's own (`fields.age`), or nowhere. Several columns may hold addresses.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from cadenza.contacts.check import Checked, check
from cadenza.contacts.model import ContactForm, Field, Invalid, Value, fold
from cadenza.contacts.read_table import Record
from cadenza.core.suggest import did_you_mean

TARGETS: Mapping[str, tuple[str, ...]] = {
    "email": (
        "email",
        "e mail",
        "mail",
        "email address",
        "work email",
        "e mail address",
        "courriel",
    ),
    "linkedin": ("linkedin", "linkedin url", "linkedin profile", "linkedin profile url"),
    "telegram": ("telegram", "telegram username", "telegram id", "chat id", "tg"),
    "first_name": ("first name", "firstname", "given name", "vorname", "prenom", "fname"),
    "last_name": ("last name", "lastname", "surname", "family name", "nachname", "nom", "lname"),
    "name": ("name", "full name", "fullname", "contact", "contact name"),
    "company": ("company", "organization", "organisation", "company name", "firma", "account name"),
    "country": ("country", "country code", "land", "pays"),
    "zone": ("zone", "timezone", "time zone", "tz"),
    "language": ("language", "locale", "lang", "sprache"),
    "tags": ("tags", "tag", "labels", "groups"),
    "consent": ("consent", "opt in", "optin", "subscribed", "marketing consent"),
    "consent_at": ("consent at", "consent date", "opt in date", "opt in time"),
    "consent_proof": ("consent proof", "opt in ip", "proof"),
    "source": ("source", "lead source", "origin"),
    "source_at": ("source at", "source date"),
    "source_proof": ("source proof", "source url"),
    "external_id": ("external id", "id", "key", "crm id", "contact id", "record id"),
}
CHANNEL_TARGETS: Mapping[str, tuple[str, ...]] = {
    "address": ("address", "username", "channel", "chat id", "chat", "handle", "telegram"),
    "provider": ("provider", "network", "platform"),
    "title": ("title", "name", "channel name"),
    "category": ("category", "group", "topic"),
}
_SPLIT = re.compile(r"[;,\s]+")
_TAGS = re.compile(r"[;,|]")
_ADDRESSES = ("email", "linkedin", "telegram")


@dataclass(frozen=True, slots=True)
class Row:
    """A row as it is understood; `wrong` where it is refused."""

    number: int
    said: Checked | None
    wrong: Invalid | None = None
    value: str | None = None  # the cell that is wrong


def suggest(
    header: Sequence[str],
    *,
    kind: str,
    fields: Mapping[str, Field],
    remembered: Mapping[str, str],
) -> dict[str, str]:
    """Say what each column is: as the last time, by its name, or a field of that name."""
    known = TARGETS if kind == "contacts" else CHANNEL_TARGETS
    named = {name: target for target, names in known.items() for name in names}
    own = {
        fold(name): f"fields.{each.key}"
        for each in fields.values()
        for name in (each.key, each.label)
    }
    found: dict[str, str] = {}
    for name in header:
        plain = plain_header(name)
        if plain in remembered:
            target = remembered[plain]
        else:
            target = named.get(plain) or (own.get(plain, "") if kind == "contacts" else "")
        taken = target in found.values() and target not in _ADDRESSES
        found[name] = "" if taken or is_wrong(target, kind, fields) else target
    return found


def plain_header(name: str) -> str:
    """Return a header as it is compared."""
    return " ".join(re.sub(r"[_\-./]+", " ", name.casefold()).split())[:200]


def is_wrong(target: str, kind: str, fields: Mapping[str, Field]) -> str | None:
    """Say what is wrong with a target; None: it can be used."""
    if not target:
        return None
    if kind == "channels":
        if target in CHANNEL_TARGETS:
            return None
        return f"there is no column {target!r}.{did_you_mean(target, CHANNEL_TARGETS)}"
    if target.startswith("fields."):
        key = target.removeprefix("fields.")
        return None if key in fields else f"there is no field {key!r}.{did_you_mean(key, fields)}"
    if target in TARGETS or re.fullmatch(r"channel:[a-z][a-z0-9_]{0,29}", target):
        return None
    return f"there is no column {target!r}.{did_you_mean(target, TARGETS)}"


def check_mapping(
    mapping: Mapping[str, str], header: Sequence[str], *, kind: str, fields: Mapping[str, Field]
) -> Invalid | None:
    """Say what is wrong with a mapping of a file's columns."""
    for name, target in mapping.items():
        if name not in header:
            return Invalid(
                "mapping",
                "no_column",
                f"the file has no column {name!r}.{did_you_mean(name, header)}",
            )
        message = is_wrong(target, kind, fields)
        if message is not None:
            return Invalid("mapping", "no_target", message)
    used = [target for target in mapping.values() if target]
    singles = [
        target for target in used if target not in _ADDRESSES and not target.startswith("channel:")
    ]
    twice = [target for target in singles if singles.count(target) > 1]
    if twice:
        return Invalid("mapping", "twice", f"two columns go to {twice[0]!r}")
    if kind == "channels":
        needed = "address" in used
    else:
        needed = any(
            target in (*_ADDRESSES, "external_id") or target.startswith("channel:")
            for target in used
        )
    if not needed:
        return Invalid(
            "mapping", "no_key", "one column must hold an address or a key to know people by"
        )
    return None


@dataclass(frozen=True, slots=True)
class Defaults:
    """What is said of everybody in a file."""

    tags: tuple[str, ...] = ()
    source: str | None = None
    source_proof: str | None = None
    consent: str | None = None
    consent_proof: str | None = None


class RowReader:
    """Reads rows of one file under its mapping."""

    def __init__(
        self,
        header: Sequence[str],
        mapping: Mapping[str, str],
        fields: Mapping[str, Field],
        defaults: Defaults,
    ) -> None:
        self._places = [
            (n, name, mapping[name]) for n, name in enumerate(header) if mapping.get(name)
        ]
        self._width = len(header)
        self._fields = fields
        self._defaults = defaults
        self._header = {target: name for _, name, target in self._places}

    def read(self, record: Record) -> Row:
        """Understand one row, or say what is wrong with it."""
        if record.wrong is not None:
            return Row(record.number, None, Invalid("", record.wrong, ""))
        if len(record.cells) > self._width and any(record.cells[self._width :]):
            return Row(record.number, None, Invalid("", "too_many_cells", ""))
        form = self._form(record.cells)
        if isinstance(form, Invalid):
            return Row(record.number, None, form, form.message)
        said = check(form, self._fields)
        if isinstance(said, Checked):
            if said.addresses or said.columns.get("external_id"):
                return Row(record.number, said)
            return Row(record.number, None, Invalid("", "no_key", ""))
        wrong = said[0]
        column = self._header.get(wrong.column, wrong.column)
        value = next(
            (
                record.cells[n]
                for n, name, _ in self._places
                if name == column and n < len(record.cells)
            ),
            None,
        )
        return Row(record.number, None, Invalid(column, wrong.code, wrong.message), value)

    def _form(self, cells: Sequence[str]) -> ContactForm | Invalid:
        said: dict[str, Any] = {}
        own: dict[str, Value | None] = {}
        addresses: list[tuple[str, str]] = []
        tags: list[str] = list(self._defaults.tags)
        for n, name, target in self._places:
            cell = cells[n] if n < len(cells) else ""
            if not cell:
                continue
            if target == "email":
                parts = _SPLIT.split(cell) if "@" in cell[1:] else [cell]
                addresses += [("email", part) for part in parts if part]
            elif target in _ADDRESSES:
                addresses.append((target, cell))
            elif target.startswith("channel:"):
                addresses.append((target.removeprefix("channel:"), cell))
            elif target == "tags":
                tags += [part for part in _TAGS.split(cell) if part.strip()]
            elif target.startswith("fields."):
                own[target.removeprefix("fields.")] = cell
            elif target in ("consent_at", "source_at"):
                at = _read_instant(cell)
                if at is None:
                    return Invalid(name, "not_a_date", cell)
                said[target] = at
            elif target == "name":
                first, _, last = cell.partition(" ")
                said.setdefault("first_name", first)
                said.setdefault("last_name", last)
            else:
                said[target] = cell
        for key in ("source", "source_proof", "consent", "consent_proof"):
            value = getattr(self._defaults, key)
            if value is not None:
                said.setdefault(key, value)
        return ContactForm(addresses=addresses, tags=tags or None, fields=own, **said)


def _read_instant(text: str) -> datetime | None:
    try:
        if len(text) == 10:
            day = date.fromisoformat(text)
            return datetime(day.year, day.month, day.day, tzinfo=UTC)
        at = datetime.fromisoformat(text)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
