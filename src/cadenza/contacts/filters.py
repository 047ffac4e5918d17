"""Filters of contacts as data: a list of conditions that all must hold, compiled to SQL along the indexes.

Every condition can be asked in two ways: `probe` judges one person, `ids` names the people it holds for, along an
index. Which of them leads a search is decided in `find.py`. Values are parameters, never text in SQL, and what is
not known is refused with a guess.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal, TypeAlias

import msgspec

from cadenza.contacts.check import read_consent, read_country, read_language
from cadenza.contacts.model import Field, Invalid, fold, read_tag, read_value
from cadenza.core.suggest import did_you_mean

Op: TypeAlias = Literal["is", "is_not", "begins", "at_least", "at_most", "set", "not_set"]
OPS: tuple[Op, ...] = ("is", "is_not", "begins", "at_least", "at_most", "set", "not_set")
MOST = 20
_OWN = re.compile(r":(w\d+_)")
FAR = "\U0010ffff"  # behind everything that begins so


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that must hold: `tag is vip`, `created at_least 2026-01-01`, `age at_least 18`."""

    what: str
    op: Op = "is"
    value: str | float | int | None = None


Filter: TypeAlias = tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition in SQL; `{p}` in both texts stands for the prefix of its parameters."""

    probe: str  # of a row `c` of contact
    params: Mapping[str, Any]
    ids: str | None = None  # SELECT … AS id; None: no index leads to them
    ordered: bool = False  # `ids` comes in order of id, along its index
    after: str = "id"  # the column of `ids` that pages go by

    def named(self, number: int) -> "Clause":
        """Give its parameters names of its own among others."""
        p = f"w{number}_"
        return replace(
            self,
            probe=self.probe.replace("{p}", p),
            params={f"{p}{name}": value for name, value in self.params.items()},
            ids=None if self.ids is None else self.ids.replace("{p}", p),
        )

    def renamed(self, prefix: str) -> "Clause":
        """Give it other names once more, where two filters stand in one statement."""
        return replace(
            self,
            probe=_OWN.sub(rf":{prefix}\1", self.probe),
            params={f"{prefix}{name}": value for name, value in self.params.items()},
            ids=None,
        )


def read_filter(said: Sequence[Mapping[str, Any]]) -> Filter | Invalid:
    """Read what a program says; names and values are judged by `compile_filter`."""
    if len(said) > MOST:
        return Invalid("filter", "too_many", f"at most {MOST} conditions")
    found: list[Condition] = []
    for each in said:
        try:
            found.append(msgspec.convert(each, Condition))
        except msgspec.ValidationError as error:
            return Invalid("filter", "bad_condition", str(error))
    return tuple(found)


def encode_filter(conditions: Filter) -> str:
    """Write a filter as JSON."""
    return msgspec.json.encode(conditions).decode()


def decode_filter(text: str) -> Filter:
    """Read a filter's JSON."""
    return msgspec.json.decode(text, type=tuple[Condition, ...])


def compile_filter(conditions: Filter, fields: Mapping[str, Field]) -> list[Clause] | Invalid:
    """Return each condition in SQL, or what is wrong with one."""
    clauses: list[Clause] = []
    for condition in conditions:
        for clause in _compile(condition, fields):
            if isinstance(clause, Invalid):
                return clause
            clauses.append(clause.named(len(clauses)))
    return clauses


def _compile(condition: Condition, fields: Mapping[str, Field]) -> Sequence[Clause | Invalid]:
    what, op = condition.what, condition.op
    key = what.removeprefix("fields.")
    if what.startswith("fields.") or (key in fields and what not in _NAMED):
        if key not in fields:
            message = f"there is no field {key!r}.{did_you_mean(key, fields)}"
            return [Invalid(what, "unknown_field", message)]
        return [_compile_field(fields[key], condition)]
    if what not in _NAMED:
        known = [*_NAMED, *fields]
        message = f"nothing is called {what!r}.{did_you_mean(what, known)}"
        return [Invalid(what, "unknown_field", message)]
    ops, make = _NAMED[what]
    if op not in ops:
        return [Invalid(what, "bad_op", f"{what} takes {', '.join(ops)}")]
    if op not in ("set", "not_set") and (condition.value is None or condition.value == ""):
        return [Invalid(what, "value_missing", "say which value")]
    made = make(condition)
    return made if isinstance(made, list) else [made]


def _tag(condition: Condition) -> Clause | Invalid:
    tag = read_tag(str(condition.value))
    if isinstance(tag, Invalid):
        return tag
    probe = (
        "EXISTS (SELECT 1 FROM contact_tag t WHERE t.workspace_id = :workspace_id"
        " AND t.tag = :{p}tag AND t.contact_id = c.id)"
    )
    ids = (
        "SELECT contact_id AS id FROM contact_tag"
        " WHERE workspace_id = :workspace_id AND tag = :{p}tag"
    )
    if condition.op == "is_not":
        return Clause(f"NOT {probe}", {"tag": tag})
    return Clause(probe, {"tag": tag}, ids, ordered=True, after="contact_id")


def _channel(condition: Condition) -> Clause:
    channel = str(condition.value).strip().casefold()
    probe = (
        "EXISTS (SELECT 1 FROM contact_address a WHERE a.workspace_id = :workspace_id"
        " AND a.contact_id = c.id AND a.channel = :{p}channel)"
    )
    ids = (
        "SELECT contact_id AS id FROM contact_address"
        " WHERE workspace_id = :workspace_id AND channel = :{p}channel"
    )
    if condition.op == "is_not":
        return Clause(f"NOT {probe}", {"channel": channel})
    return Clause(probe, {"channel": channel}, ids, ordered=True, after="contact_id")


def _of_address(column: str) -> Callable[[Condition], Clause]:
    """By the domain or the flag of one of the person's addresses."""

    def make(condition: Condition) -> Clause:
        value = str(condition.value).strip().casefold().removeprefix("@")
        probe = (
            "EXISTS (SELECT 1 FROM contact_address a WHERE a.workspace_id = :workspace_id"  # noqa: S608 - our own names
            f" AND a.contact_id = c.id AND a.{column} = :{{p}}value)"
        )
        ids = (
            "SELECT contact_id AS id FROM contact_address"  # noqa: S608 - our own names
            f" WHERE workspace_id = :workspace_id AND {column} = :{{p}}value"
            f" AND {column} IS NOT NULL"
        )
        if condition.op == "is_not":
            return Clause(f"NOT {probe}", {"value": value})
        return Clause(probe, {"value": value}, ids, ordered=True, after="contact_id")

    return make


def _address(condition: Condition) -> Clause:
    """By the beginning of one of the person's addresses, or by all of it."""
    return _address_clause(fold(str(condition.value)), whole=condition.op == "is")


def _address_clause(value: str, *, whole: bool) -> Clause:
    end = value if whole else value + FAR
    span = "address >= :{p}from AND {a}address <= :{p}to"
    probe = (
        "EXISTS (SELECT 1 FROM contact_address a WHERE a.workspace_id = :workspace_id"  # noqa: S608 - our own names
        f" AND a.contact_id = c.id AND a.{span.replace('{a}', 'a.')})"
    )
    ids = " UNION ".join(
        "SELECT contact_id AS id FROM contact_address"  # noqa: S608 - our own names
        f" WHERE workspace_id = :workspace_id AND channel = '{channel}'"
        f" AND {span.replace('{a}', '')}"
        for channel in ("email", "linkedin", "telegram")
    )
    return Clause(probe, {"from": value, "to": end}, ids)


def _column(
    column: str, read: Callable[[str], Any], *, keyed: bool = False, indexed: bool = True
) -> Callable[[Condition], Clause | Invalid]:
    """By a column of the person; `keyed`: a folded text, where '' means that there is none."""
    there = f"{column} <> ''" if keyed else f"{column} IS NOT NULL"

    def make(condition: Condition) -> Clause | Invalid:
        op = condition.op
        if op in ("set", "not_set"):
            return Clause(f"{'' if op == 'set' else 'NOT '}(c.{there})", {})
        value = read(str(condition.value))
        if isinstance(value, Invalid):
            return value
        source = "SELECT id FROM contact WHERE workspace_id = :workspace_id AND"
        if op == "is_not":
            return Clause(f"(c.{column} IS NULL OR c.{column} <> :{{p}}value)", {"value": value})
        if op == "begins":
            span = f"{column} >= :{{p}}from AND {{c}}{column} <= :{{p}}to"
            ids = f"{source} {span.replace('{c}', '')} AND {there}"
            params = {"from": value, "to": value + FAR}
            return Clause(f"c.{span.replace('{c}', 'c.')}", params, ids if indexed else None)
        ids = f"{source} {column} = :{{p}}value AND {there}"
        probe = f"c.{column} = :{{p}}value"
        return Clause(probe, {"value": value}, ids if indexed else None, ordered=True)

    return make


def _created(condition: Condition) -> Clause | Invalid:
    at = _instant(str(condition.value), end=condition.op == "at_most")
    if at is None:
        return Invalid("created", "not_a_date", "a date such as 2026-11-18, or an instant")
    sign = "<" if condition.op == "at_most" else ">="
    span = f"created_at {sign} :{{p}}at"
    ids = f"SELECT id FROM contact WHERE workspace_id = :workspace_id AND {span}"  # noqa: S608 - our own names
    return Clause(f"c.{span}", {"at": at}, ids)


def _instant(text: str, *, end: bool) -> datetime | None:
    """Read a day in UTC (`end`: its end) or an instant with its offset."""
    try:
        if len(text) == 10:
            day = date.fromisoformat(text) + timedelta(days=1 if end else 0)
            return datetime(day.year, day.month, day.day, tzinfo=UTC)
        at = datetime.fromisoformat(text)
        return None if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _search(condition: Condition) -> list[Clause | Invalid]:
    """Each word begins a first or last name, the company, or an address; `@example.org` is a domain."""
    words = fold(str(condition.value)).split()[:5]
    return [_word(word) for word in words]


def _word(word: str) -> Clause:
    if word.startswith("@") and "." in word:
        made = _of_address("domain")(Condition("domain", "is", word))
        assert isinstance(made, Clause)
        return made
    spans = [
        (column, f"{column} >= :{{p}}from AND {{c}}{column} <= :{{p}}to")
        for column in ("first_key", "last_key", "company_key")
    ]
    address = _address_clause(word, whole=False)
    probes = [f"(c.{span.replace('{c}', 'c.')})" for _, span in spans]
    ids = [
        f"SELECT id FROM contact WHERE workspace_id = :workspace_id AND {span.replace('{c}', '')}"  # noqa: S608 - our own names
        f" AND {column} <> ''"
        for column, span in spans
    ]
    probe = f"({' OR '.join([*probes, address.probe])})"
    return Clause(probe, address.params, " UNION ".join([*ids, address.ids or ""]))


def _audience(condition: Condition) -> Clause:
    probe = (
        "EXISTS (SELECT 1 FROM audience_member m WHERE m.workspace_id = :workspace_id"
        " AND m.audience_id = :{p}audience AND m.kind = 'contact' AND m.provider = ''"
        " AND m.member_id = c.id)"
    )
    ids = (
        "SELECT member_id AS id FROM audience_member WHERE workspace_id = :workspace_id"
        " AND audience_id = :{p}audience AND kind = 'contact' AND provider = ''"
    )
    params = {"audience": str(condition.value)}
    if condition.op == "is_not":
        return Clause(f"NOT {probe}", params)
    return Clause(probe, params, ids, ordered=True, after="member_id")


def _compile_field(known: Field, condition: Condition) -> Clause | Invalid:
    op = condition.op
    probe = (
        "EXISTS (SELECT 1 FROM contact_value v WHERE v.workspace_id = :workspace_id"
        " AND v.field = :{p}field AND v.contact_id = c.id{more})"
    )
    ids = (
        "SELECT contact_id AS id FROM contact_value"
        " WHERE workspace_id = :workspace_id AND field = :{p}field"
    )
    params: dict[str, Any] = {"field": known.key}
    if op in ("set", "not_set"):
        whole = probe.replace("{more}", "")
        if op == "not_set":
            return Clause(f"NOT {whole}", params)
        return Clause(whole, params, ids, ordered=True, after="contact_id")
    if op in ("at_least", "at_most") and known.kind not in ("number", "date"):
        return Invalid(condition.what, "bad_op", "only numbers and dates have an order")
    if op == "begins" and known.kind != "text":
        return Invalid(condition.what, "bad_op", "only a text begins with something")
    value = read_value(known, condition.value)
    if isinstance(value, Invalid):
        return value
    column = "number_value" if known.kind == "number" else "text_value"
    params["value"] = float(value) if known.kind == "number" else str(value)
    if known.kind in ("text", "choice"):
        params["value"] = fold(str(value))
    test = {"at_least": f"{column} >= :{{p}}value", "at_most": f"{column} <= :{{p}}value"}.get(
        op, f"{column} = :{{p}}value"
    )
    if op == "begins":
        params["end"] = f"{params['value']}{FAR}"
        test = f"{column} >= :{{p}}value AND {{v}}{column} <= :{{p}}end"
    whole = probe.replace("{more}", f" AND v.{test}").replace("{v}", "v.")
    if op == "is_not":
        return Clause(f"NOT {whole}", params)
    found = f"{ids} AND {test.replace('{v}', '')} AND {column} IS NOT NULL"
    return Clause(whole, params, found, ordered=op == "is", after="contact_id")


_Made: TypeAlias = Clause | Invalid | list[Clause | Invalid]
_NAMED: Mapping[str, tuple[tuple[Op, ...], Callable[[Condition], _Made]]] = {
    "search": (("is",), _search),
    "tag": (("is", "is_not"), _tag),
    "consent": (("is", "is_not"), _column("consent", read_consent)),
    "channel": (("is", "is_not"), _channel),
    "address": (("is", "begins"), _address),
    "domain": (("is", "is_not"), _of_address("domain")),
    "flag": (("is", "is_not"), _of_address("flag")),
    "first_name": (
        ("is", "is_not", "begins", "set", "not_set"),
        _column("first_key", fold, keyed=True),
    ),
    "last_name": (
        ("is", "is_not", "begins", "set", "not_set"),
        _column("last_key", fold, keyed=True),
    ),
    "company": (
        ("is", "is_not", "begins", "set", "not_set"),
        _column("company_key", fold, keyed=True),
    ),
    "country": (("is", "is_not", "set", "not_set"), _column("country", read_country)),
    "language": (("is", "is_not", "set", "not_set"), _column("language", read_language)),
    "zone": (("is", "is_not", "set", "not_set"), _column("zone", str.strip, indexed=False)),
    "external_id": (("is", "set", "not_set"), _column("external_id", str.strip)),
    "source": (
        ("is", "is_not", "set", "not_set"),
        _column("source", str.strip, keyed=True, indexed=False),
    ),
    "created": (("at_least", "at_most"), _created),
    "import": (("is",), _column("import_id", str.strip)),
    "audience": (("is", "is_not"), _audience),
}
NAMES = tuple(_NAMED)
