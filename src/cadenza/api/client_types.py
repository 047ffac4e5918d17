"""From the schemas of the OpenAPI document to TypedDicts and Literals, for `write_client.py`.

What is only answered has all its fields: the server always writes them. What is asked has those optional that
have a default. Times are texts in answers; in what is asked a datetime may stand as well.
"""

import textwrap
from typing import Any

Schema = dict[str, Any]
REF = "#/components/schemas/"
INSTANT = "Instant"
WIDTH = 94
HEAD = '''"""What is asked of the HTTP API and what it answers, as types: made by `python -m cadenza.api.write_client`.

Do not change it by hand: a test compares it with the routes. All of it is the data as it travels: plain
dictionaries, lists and texts. Nothing is checked while a program runs; a type checker checks.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

# An instant that is asked: an aware datetime, or ISO 8601 with an offset. In answers it is a text, in UTC.
Instant: TypeAlias = datetime | str
'''


def write_types(document: Schema) -> str:
    """Write the module of shapes."""
    schemas: dict[str, Schema] = document["components"]["schemas"]
    requested, answered = reached(document)
    parts = [HEAD]
    plain = [name for name, schema in schemas.items() if "properties" not in schema]
    for name in sorted(schemas, key=lambda each: (each not in plain, name_of(each))):
        if name not in requested | answered:
            continue
        parts.append(_shape(name, schemas[name], requested=name in requested))
    return "\n\n".join(parts)


def name_of(schema: str) -> str:
    """Name a schema as a class: those of one name in two modules carry their module's."""
    parts = schema.strip("_").split("__")[-2:]
    if len(parts) == 1:
        page = schema.removeprefix("Page_").removesuffix("_")
        return schema if page == schema else f"{page}Page"
    module = "".join(word.capitalize() for word in parts[0].split("_"))
    return module + parts[1]


def type_of(schema: Schema, *, requested: bool) -> str:
    """Write the type of a value."""
    if "$ref" in schema:
        return name_of(schema["$ref"].removeprefix(REF))
    ways: list[Schema] = schema.get("anyOf") or schema.get("oneOf") or []
    if ways:
        return " | ".join(dict.fromkeys(type_of(way, requested=requested) for way in ways))
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    return _plain(schema, requested=requested)


def reached(document: Schema) -> tuple[set[str], set[str]]:
    """Return the schemas that are asked, and those that are answered."""
    schemas: dict[str, Schema] = document["components"]["schemas"]
    requested: set[str] = set()
    answered: set[str] = {"Problem", "Fault"} & schemas.keys()
    for operation in (each for path in document["paths"].values() for each in path.values()):
        _gather(operation.get("requestBody", {}), schemas, requested)
        _gather(operation.get("parameters", []), schemas, requested)
        _gather(operation["responses"], schemas, answered)
    return requested, answered


def _gather(thing: Any, schemas: dict[str, Schema], found: set[str]) -> None:
    if isinstance(thing, list):
        for each in thing:
            _gather(each, schemas, found)
    if not isinstance(thing, dict):
        return
    ref = thing.get("$ref", "")
    if isinstance(ref, str) and ref.startswith(REF) and ref.removeprefix(REF) not in found:
        name = ref.removeprefix(REF)
        found.add(name)
        _gather(schemas[name], schemas, found)
    for key, each in thing.items():
        if key not in ("examples", "example", "default"):
            _gather(each, schemas, found)


def _plain(schema: Schema, *, requested: bool) -> str:
    match schema.get("type"):
        case "string" if schema.get("format") == "date-time" and requested:
            return INSTANT
        case "array" if "prefixItems" in schema:
            inner = ", ".join(type_of(each, requested=requested) for each in schema["prefixItems"])
            return f"tuple[{inner}]" if requested else "list[Any]"
        case "array":
            return f"list[{type_of(schema.get('items', {}), requested=requested)}]"
        case "object":
            more = schema.get("additionalProperties")
            inner = type_of(more, requested=requested) if isinstance(more, dict) else "Any"
            return f"dict[str, {inner}]"
        case str() as kind:
            return {
                "string": "str",
                "integer": "int",
                "number": "float",
                "boolean": "bool",
                "null": "None",
            }[kind]
        case _:
            return "Any"


def _shape(name: str, schema: Schema, *, requested: bool) -> str:
    message = schema.get("description", "")
    if "properties" not in schema:
        return f"{comment(message)}{name_of(name)}: TypeAlias = {_quoted(type_of(schema, requested=requested))}"
    required = set(schema.get("required", ())) if requested else set(schema["properties"])
    lines = [
        f"class {name_of(name)}(TypedDict):",
        f'    """{_paragraph(message or name_of(name))}"""',
        "",
    ]
    for field, value in schema["properties"].items():
        kind = type_of(value, requested=requested)
        kind = kind if field in required else f"NotRequired[{kind}]"
        lines += [comment(value.get("description", ""), "    ") + f"    {field}: {kind}"]
    return "\n".join(lines)


def _quoted(kind: str) -> str:
    """Quote what names classes below; a Literal may stand as it is."""
    return kind if kind.startswith(("Literal", "dict", "Any")) else repr(kind)


def comment(message: str, indent: str = "") -> str:
    """Write a description as a comment above."""
    lines = textwrap.wrap(" ".join(message.split()), WIDTH - len(indent))
    return "".join(f"{indent}# {line}\n" for line in lines)


def _paragraph(message: str) -> str:
    text = textwrap.fill(" ".join(message.split()), WIDTH - 3, subsequent_indent="    ")
    return text + "\n    " if "\n" in text else text
