"""Checks what a form, a file or an agent says of a person, and puts it on top of what is known.

One place for all of them: the API's form, the import's rows and the demo go through `check` and `apply`.
A zone that nobody chose is guessed from the country, and a better guess may replace it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from cadenza.contacts.addresses import read_address
from cadenza.contacts.model import (
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_ADDRESSES,
    MOST_TAGS,
    Address,
    Consent,
    Contact,
    ContactForm,
    Field,
    Invalid,
    Value,
    read_tag,
    read_value,
)
from cadenza.core.countries import find_country, main_zone
from cadenza.core.zones import UnknownZoneError, get_zone

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")
_LINES = ("external_id", "first_name", "last_name", "company", "source")
_TEXTS = ("consent_proof", "source_proof")


@dataclass(frozen=True, slots=True)
class Checked:
    """What is said of a person and can be kept; only what was said."""

    columns: Mapping[str, Any]
    fields: Mapping[str, Value | None]
    addresses: tuple[Address, ...] | None
    tags: tuple[str, ...] | None


def check(form: ContactForm, known: Mapping[str, Field]) -> Checked | list[Invalid]:
    """Check everything that is said; return all that is wrong."""
    wrong: list[Invalid] = []
    columns: dict[str, Any] = {}
    for name in _LINES:
        text = getattr(form, name)
        if text is not None:
            _keep(columns, wrong, name, _line(name, text))
    for name in _TEXTS:
        text = getattr(form, name)
        if text is not None:
            _keep(columns, wrong, name, _text(name, text))
    for name, read in _READERS.items():
        text = getattr(form, name)
        if text is not None:
            _keep(columns, wrong, name, read(text) if text else _EMPTY[name])
    for name in ("consent_at", "source_at"):
        if getattr(form, name) is not None:
            columns[name] = getattr(form, name)
    fields = _check_fields(form.fields, known, wrong)
    addresses = None if form.addresses is None else _check_addresses(form.addresses, wrong)
    tags = None if form.tags is None else _check_tags(form.tags, wrong)
    if columns.get("external_id") == "":
        columns["external_id"] = None
    return wrong or Checked(columns, fields, addresses, tags)


def apply(
    contact: Contact, said: Checked, now: datetime, *, add: bool = False, fill: bool = False
) -> Contact:
    """Put what was said on top of what is known.

    `add`: addresses and tags join those that are there instead of replacing them; `fill`: only gaps are filled.
    """
    columns = dict(said.columns)
    if fill:
        columns = {name: value for name, value in columns.items() if not getattr(contact, name)}
        if contact.consent is not Consent.UNKNOWN or columns.get("consent") is None:
            for name in ("consent_at", "consent_proof"):
                columns.pop(name, None)
    if "consent" in columns and columns["consent"] is not contact.consent:
        columns.setdefault("consent_at", now)
    if columns.get("source") and columns["source"] != contact.source:
        columns.setdefault("source_at", now)
    if columns.get("zone"):
        columns["zone_guessed"] = False
    elif "zone" in columns or (
        "country" in columns and (contact.zone is None or contact.zone_guessed)
    ):
        country = columns.get("country", contact.country)
        columns["zone"] = None if country is None else main_zone(country)
        columns["zone_guessed"] = columns["zone"] is not None
    fields = dict(contact.fields)
    for key, value in said.fields.items():
        if value is None:
            fields.pop(key, None)
        elif not fill or key not in fields:
            fields[key] = value
    addresses, tags = contact.addresses, contact.tags
    if said.addresses is not None:
        addresses = _joined(addresses, said.addresses) if add else said.addresses
    if said.tags is not None:
        tags = tuple(sorted({*tags, *said.tags})) if add else said.tags
    changed = replace(contact, **columns, fields=fields, addresses=addresses, tags=tags)
    return contact if changed == contact else replace(changed, updated_at=now)


def blank(workspace_id: str, id_: str, now: datetime, *, import_id: str | None = None) -> Contact:
    """Make a person of whom nothing is known."""
    return Contact(
        workspace_id=workspace_id,
        id=id_,
        external_id=None,
        first_name="",
        last_name="",
        company="",
        country=None,
        zone=None,
        zone_guessed=False,
        language=None,
        consent=Consent.UNKNOWN,
        consent_at=None,
        consent_proof=None,
        source="",
        source_at=None,
        source_proof=None,
        fields={},
        import_id=import_id,
        import_revision=None if import_id is None else 1,
        revision=1,
        created_at=now,
        updated_at=now,
    )


def _joined(there: Sequence[Address], new: Sequence[Address]) -> tuple[Address, ...]:
    known = {(each.channel, each.address) for each in there}
    return (*there, *(each for each in new if (each.channel, each.address) not in known))


def _keep(columns: dict[str, Any], wrong: list[Invalid], name: str, read: object) -> None:
    if isinstance(read, Invalid):
        wrong.append(read)
    else:
        columns[name] = read


def _line(name: str, text: str) -> str | Invalid:
    line = text if text.isascii() and text.isprintable() else " ".join(text.split())
    line = line.strip()
    if len(line) > LONGEST_NAME or not line.isprintable():
        return Invalid(name, "bad_text", f"one line of at most {LONGEST_NAME} characters")
    return line


def _text(name: str, text: str) -> str | Invalid:
    if len(text) > LONGEST_TEXT or "\x00" in text:
        return Invalid(name, "too_long", f"at most {LONGEST_TEXT:,} characters")
    return text.strip()


def read_country(text: str) -> str | Invalid:
    """Read a country by code or name."""
    found = find_country(text)
    return found or Invalid("country", "unknown_country", "a code such as DE, or an English name")


def read_zone(text: str) -> str | Invalid:
    """Read a zone of the tz database."""
    try:
        get_zone(text.strip())
    except UnknownZoneError:
        return Invalid("zone", "unknown_zone", "a zone such as Europe/Berlin")
    return text.strip()


def read_language(text: str) -> str | Invalid:
    """Read a language tag: `de`, `pt-BR`."""
    if not _LANGUAGE.fullmatch(text.strip()):
        return Invalid("language", "unknown_language", "a tag such as en or pt-BR")
    first, *rest = re.split(r"[-_]", text.strip())
    return "-".join([first.lower(), *(each.upper() if len(each) == 2 else each for each in rest)])


_GIVEN = {"given", "yes", "true", "1", "y", "ja", "oui", "opt-in", "opted in", "subscribed"}
_REFUSED = {"refused", "no", "false", "0", "n", "nein", "non", "opt-out", "opted out"}


def read_consent(text: str) -> Consent | Invalid:
    """Read whether a person agreed, in the words that files have."""
    word = " ".join(text.casefold().split())
    if word in _GIVEN:
        return Consent.GIVEN
    if word in _REFUSED or word == "unsubscribed":
        return Consent.REFUSED
    if word == Consent.UNKNOWN:
        return Consent.UNKNOWN
    return Invalid("consent", "unknown_consent", "given, refused or unknown")


_READERS = {
    "country": read_country,
    "zone": read_zone,
    "language": read_language,
    "consent": read_consent,
}
_EMPTY = {"country": None, "zone": None, "language": None, "consent": Consent.UNKNOWN}


def _check_fields(
    said: Mapping[str, Value | None], known: Mapping[str, Field], wrong: list[Invalid]
) -> dict[str, Value | None]:
    fields: dict[str, Value | None] = {}
    for key, raw in said.items():
        if key not in known:
            wrong.append(Invalid(f"fields.{key}", "unknown_field", "make the field first"))
            continue
        if raw is None or raw == "":
            fields[key] = None
            continue
        value = read_value(known[key], raw)
        if isinstance(value, Invalid):
            wrong.append(value)
        else:
            fields[key] = value
    return fields


def _check_addresses(said: Sequence[tuple[str, str]], wrong: list[Invalid]) -> tuple[Address, ...]:
    if len(said) > MOST_ADDRESSES:
        wrong.append(Invalid("addresses", "too_many", f"at most {MOST_ADDRESSES} of a person"))
        return ()
    found: dict[tuple[str, str], Address] = {}
    for channel, text in said:
        read = read_address(channel, text)
        if isinstance(read, Invalid):
            wrong.append(read)
        else:
            found.setdefault((read.channel, read.address), read)
    return tuple(found.values())


def _check_tags(said: Sequence[str], wrong: list[Invalid]) -> tuple[str, ...]:
    if len(said) > MOST_TAGS:
        wrong.append(Invalid("tags", "too_many", f"at most {MOST_TAGS} of a person"))
        return ()
    tags: set[str] = set()
    for text in said:
        tag = read_tag(text)
        if isinstance(tag, Invalid):
            wrong.append(tag)
        else:
            tags.add(tag)
    return tuple(sorted(tags))
