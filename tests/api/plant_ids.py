"""Puts an id of our choice wherever a body or an address takes one, as the OpenAPI document says.

A place is found by the pattern that all ids have, so a new field is tried the moment it is added. Each place
is filled alone, the rest of the body being the route's own example. Limit: keys of objects are not filled.
Where there is a dry run, that is asked for: requests get as far as they can and change nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2

from cadenza.api.schemas import ID
from tests.api.walk import Step, Unknown

NOBODY = "nobody-at-all"
ANYWHERE = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d[\d:.]*(Z|[+-]\d\d:?\d\d)?"
)


@dataclass(frozen=True)
class Spot:
    """One place of a body that takes an id."""

    name: str  # of the innermost field, such as `account_id`
    example: dict[str, Any]
    field: str
    inside: dict[str, Any]
    document: dict[str, Any]

    def body(self, id_: str) -> dict[str, Any]:
        """The example with this id there."""
        return self.example | {self.field: _full(self.document, self.inside, self.name, id_)}


def spots(step: Step) -> Iterator[Spot]:
    """Yield every place of a step's body that takes an id."""
    schema, document = step.schema(), step.document
    for shape in schema.get("oneOf", [schema] if schema else ()):
        known = _open(document, shape)
        for name, inside in known.get("properties", {}).items():
            for leaf in sorted(_leaves(document, inside, name)):
                if "oneOf" in schema:
                    examples = [_full(document, known, "", "nobody")]
                else:
                    examples = schema["examples"]
                for example in examples:
                    yield Spot(leaf, example, name, inside, document)


def queries(step: Step) -> list[str]:
    """List what takes an id behind the ? of a step's address."""
    requested = step.operation.get("parameters", ())
    return [
        each["name"]
        for each in requested
        if each["in"] == "query" and _leaves(step.document, each["schema"], each["name"])
    ]


async def tell_apart(
    browser: httpx2.AsyncClient, step: Step, own: dict[str, str], theirs: dict[str, str]
) -> list[Any]:
    """Return where an id of others is answered otherwise than one that nobody has."""
    path = step.fill(Unknown(own))
    told: list[Any] = []
    for query in queries(step):
        nobody = await _said(browser, step, path, NOBODY, query=query)
        for id_ in _fitting(query, theirs):
            answer = await _said(browser, step, path, id_, query=query)
            told += [] if answer == nobody else [(step.name, query, nobody, answer)]
    for spot in spots(step):
        nobody = await _said(browser, step, path, NOBODY, body=spot.body(NOBODY))
        for id_ in _fitting(spot.name, theirs):
            answer = await _said(browser, step, path, id_, body=spot.body(id_))
            told += [] if answer == nobody else [(step.name, spot.name, nobody, answer)]
    return told


def _fitting(name: str, ids: dict[str, str]) -> list[str]:
    """The ids of a field's own kind, or all where its name does not tell."""
    return [ids[name]] if name in ids else sorted(set(ids.values()))


async def _said(
    browser: httpx2.AsyncClient,
    step: Step,
    path: str,
    id_: str,
    *,
    query: str | None = None,
    body: Any = None,
) -> tuple[int, str]:
    """What is answered, without the id, instants and names that differ from one request to the next."""
    requested: dict[str, str] = {} if query is None else {query: id_}
    if "dry_run" in step.filters():
        requested["dry_run"] = "true"
    answer = await browser.request(step.declared.method, path, params=requested, json=body)
    text = re.sub(r'"instance":"[^"]*"', "", answer.text.replace(id_, "·"))
    return answer.status_code, ANYWHERE.sub("·", text)


def _open(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def _kinds(document: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    known = _open(document, schema)
    return [*known.get("anyOf", ()), *known.get("oneOf", ()), *known.get("allOf", ())]


def _leaves(document: dict[str, Any], schema: dict[str, Any], name: str) -> set[str]:
    """Return the names of the fields in here that take an id."""
    known = _open(document, schema)
    if known.get("pattern") == ID:
        return {name}
    found: set[str] = set()
    for kind in _kinds(document, known):
        found |= _leaves(document, kind, name)
    for key, inside in known.get("properties", {}).items():
        found |= _leaves(document, inside, key)
    for inside in (*known.get("prefixItems", ()), known.get("items")):
        if inside:
            found |= _leaves(document, inside, name)
    return found


def _full(document: dict[str, Any], schema: dict[str, Any], leaf: str, id_: str) -> Any:
    """Make the smallest value of a schema that holds the id in the fields called `leaf`."""
    known = _open(document, schema)
    if known.get("pattern") == ID:
        return id_
    if "const" in known or "enum" in known:
        return known.get("const", known.get("enum", [None])[0])
    if kinds := _kinds(document, known):
        fitting = [each for each in kinds if leaf in _leaves(document, each, leaf)]
        return _full(document, (fitting or kinds)[0], leaf, id_)
    match known.get("type"):
        case "object":
            needed = known.get("required", ())
            return {
                name: _full(document, inside, leaf, id_)
                for name, inside in known.get("properties", {}).items()
                if name in needed or leaf in _leaves(document, inside, name)
            }
        case "array" if "prefixItems" in known:
            return [_full(document, each, leaf, id_) for each in known["prefixItems"]]
        case "array":
            return [_full(document, known["items"], leaf, id_)]
        case "integer" | "number":
            return int(max(1, known.get("minimum", 1)))
        case "boolean":
            return False
        case _:
            return "2031-03-30T09:00:00Z" if known.get("format") == "date-time" else "x"
