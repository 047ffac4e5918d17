"""From the operations of the OpenAPI document to the methods of the client, for `write_client.py`.

A tag becomes a class, an operation a method: ids of the path by position, fields of the body by name, the
query by name. Pages become iterators over all items, files are sent and received, events are followed.
Signing in by password is left out: programs come with a key.
"""

import re
import textwrap
from dataclasses import dataclass
from typing import Any

from cadenza.api.client_types import REF, Schema, name_of, type_of

HOME = "/workspaces/{workspace_id}"
LEFT_OUT = {"auth", "public_media", "health", "mcp", "sign_up"}
LEFT_OUT_CALLS = {"calendar_read_feed"}  # an address for calendar programs, without a key
NOUNS = {
    "audiences": "audience",
    "sequences": "sequence",
    "campaigns": "campaign",
    "contacts": "contact",
    "accounts": "account",
    "categories": "category",
    "deliveries": "delivery",
    "jobs": "job",
    "keys": "key",
    "media": "media",
    "people": "person",
    "posts": "post",
    "queues": "queue",
    "rules": "rule",
    "signup_forms": "signup_form",
    "templates": "template",
}
HEAD = '''"""A method for every operation of the HTTP API, for programs with an event loop: made by `cadenza.api.write_client`.

Do not change it by hand: a test compares it with the routes. Ids of the path come first, fields of a body and
the query by name; what they mean stands in `cadenza/client/types.py`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from cadenza.client.wire import Event, File, Requester, Told, part

if TYPE_CHECKING:
    from typing import Unpack

    import cadenza.client.types as shapes
    from cadenza.client.types import Instant


class Calls:
    """The operations of one kind at one place."""

    def __init__(self, asker: Requester, at: str) -> None:
        self._asker = asker
        self._at = at
'''


@dataclass(frozen=True, slots=True)
class ClientMethod:
    """One operation of the document."""

    method: str
    path: str  # below the workspace, or below the API
    of_workspace: bool
    operation: Schema

    @property
    def tag(self) -> str:
        """Whose file it is of."""
        return self.operation["tags"][0]

    @property
    def name(self) -> str:
        """The method's name: the handler's, without the noun of its own resource."""
        handler = self.operation["operationId"].removeprefix(f"{self.tag}_")
        noun = NOUNS.get(self.tag, "")
        for end in (f"_{self.tag}", f"_{noun}", "_one"):
            short = handler.removesuffix(end)
            if noun and short != handler and not short.endswith(("_to", "_of")):
                return short
        return handler

    @property
    def place(self) -> str:
        """The path as an f-string, its ids made safe."""
        return re.sub(r"\{(\w+)\}", r"{part(\1)}", self.path)

    def query(self) -> list[Schema]:
        """The query's parameters that a caller gives."""
        own = {"dry_run", "cursor"}
        return [
            each
            for each in self.operation.get("parameters", ())
            if each["in"] == "query" and each["name"] not in own
        ]

    def takes(self, where: str, name: str) -> bool:
        """Say whether it has a parameter."""
        return any(
            (each["in"], each["name"]) == (where, name)
            for each in self.operation.get("parameters", ())
        )

    def answer(self) -> tuple[str, Schema]:
        """Return the media type and the schema of a success."""
        for code, response in self.operation["responses"].items():
            if code.startswith("2"):
                for kind, content in response.get("content", {}).items():
                    return kind, content.get("schema", {})
        return "", {}


def write_methods(document: Schema) -> str:
    """Write the module of methods."""
    calls = _calls(document)
    kinds = sorted({(call.tag, call.of_workspace) for call in calls})
    parts = [HEAD]
    for tag, of_workspace in kinds:
        own = [c for c in calls if (c.tag, c.of_workspace) == (tag, of_workspace)]
        names = [call.name for call in own]
        assert len(set(names)) == len(names), f"two methods of one name in {tag}: {names}"
        where = "of one workspace" if of_workspace else "of the whole installation"
        parts.append(
            f'class {_class(tag, of_workspace=of_workspace)}(Calls):\n    """{_words(tag)}, {where}."""\n'
        )
        parts += [_method(call, document) for call in sorted(own, key=lambda each: each.name)]
    parts += [_place(kinds, of_workspace=True), _place(kinds, of_workspace=False)]
    text = "\n".join(parts)
    named = "Literal, Unpack" if "Literal[" in text else "Unpack"
    return text.replace("import Unpack", f"import {named}", 1)


def _calls(document: Schema) -> list[ClientMethod]:
    found: list[ClientMethod] = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            at = path.removeprefix("/api/v1")
            known = operation["operationId"]
            if operation["tags"][0] in LEFT_OUT or known in LEFT_OUT_CALLS:
                continue
            inside = at.startswith(HOME)
            found.append(ClientMethod(method.upper(), at.removeprefix(HOME), inside, operation))
    return found


def _class(tag: str, *, of_workspace: bool) -> str:
    name = "".join(word.capitalize() for word in tag.split("_"))
    return name if of_workspace else f"Server{name}"


def _attribute(tag: str, *, of_workspace: bool) -> str:
    return "itself" if tag == "workspaces" and of_workspace else tag


def _words(tag: str) -> str:
    return tag.replace("_", " ").capitalize()


def _method(call: ClientMethod, document: Schema) -> str:
    kind, schema = call.answer()
    params = ["self", *(f"{name}: str" for name in re.findall(r"\{(\w+)\}", call.path))]
    named: list[str] = []
    given: list[str] = []
    body = call.operation.get("requestBody", {}).get("content", {})
    upload = body.get("multipart/form-data", {}).get("schema")
    if upload is not None:
        return _upload(call, upload, params, schema)
    shape = body.get("application/json", {}).get("schema")
    closing = ""
    if shape is not None:
        name = shape["$ref"].removeprefix(REF)
        if "properties" in document["components"]["schemas"][name]:
            closing = f"**body: Unpack[shapes.{name_of(name)}]"
        else:
            params.append(f"body: shapes.{name_of(name)}")
        given.append("json=body")
    if len(params) > 1:
        params.append("/")
    query = [each["name"] for each in call.query()]
    named += [_asked(each) for each in call.query()]
    if query:
        given.append("query={" + ", ".join(f'"{each}": {each}' for each in query) + "}")
    for where, header, argument, kind_of in (
        ("query", "dry_run", "dry_run", "bool = False"),
        ("header", "if-match", "if_match", "str | None = None"),
        ("header", "idempotency-key", "idempotency_key", "str | None = None"),
    ):
        if call.takes(where, header):
            named.append(f"{argument}: {kind_of}")
            given.append(f"{argument}={argument}")
    if kind == "text/event-stream":
        return _text(
            call,
            [*params, "*", "last: str | None = None"],
            "AsyncIterator[Event]",
            f"self._asker.follow({_fstring(call)}, last=last)",
            waits=False,
        )
    signature = [*params, *(["*", *named] if named else []), *([closing] if closing else [])]
    if kind not in ("application/json", ""):
        path = _fstring(call)
        return _text(
            call, signature, "AsyncIterator[bytes]", f"self._asker.download({path})", waits=False
        )
    if _is_page(schema):
        return _pages(call, signature, named, given, schema)
    answer = _annotated(schema) if schema else "None"
    return _text(
        call,
        signature,
        answer,
        f'self._asker.request("{call.method}", {", ".join([_fstring(call), *given])})',
    )


def _pages(
    call: ClientMethod, signature: list[str], named: list[str], given: list[str], schema: Schema
) -> str:
    item = name_of(schema["$ref"].removeprefix(REF)).removesuffix("Page")
    if not named:
        signature = [*signature, "*"]
    signature = [*signature, "most: int | None = None"]
    send = f"self._asker.pages({', '.join([_fstring(call), *given, 'most=most'])})"
    return _text(call, signature, f"AsyncIterator[shapes.{item}]", send, waits=False)


def _upload(call: ClientMethod, schema: Schema, params: list[str], answer: Schema) -> str:
    fields = [name for name in schema["properties"] if name != "file"]
    requested = [f"{name}: str | None = None" for name in fields]
    has_dry_run = call.takes("query", "dry_run")
    signature = [
        *params,
        "file: File",
        "/",
        "*",
        *requested,
        *(["dry_run: bool = False"] * has_dry_run),
    ]
    signature += ["told: Told | None = None"]
    sent = "{" + ", ".join(f'"{name}": {name}' for name in fields) + "}"
    tried = "dry_run=dry_run, " if has_dry_run else ""
    send = f"self._asker.upload({_fstring(call)}, file, fields={sent}, {tried}told=told)"
    return _text(call, signature, _annotated(answer), send)


def _text(
    call: ClientMethod, signature: list[str], answer: str, send: str, *, waits: bool = True
) -> str:
    message = " ".join((call.operation.get("description") or call.operation["summary"]).split())
    head = f"{'async ' if waits else ''}def {call.name}({', '.join(signature)}) -> {answer}:"
    doc = textwrap.fill(message, 88, subsequent_indent="        ")
    doc += "\n        " if "\n" in doc else ""
    run = f"{'await ' if waits else ''}{send}"
    last = run if answer == "None" else f"return {run}"
    return f'    {head}\n        """{doc}"""\n        {last}\n'


def _fstring(call: ClientMethod) -> str:
    return f'f"{{self._at}}{call.place}"' if call.place else "self._at"


def _asked(parameter: Schema) -> str:
    schema: dict[str, Any] = parameter["schema"]
    kind = _annotated(schema, requested=True)
    if parameter.get("required"):
        return f"{parameter['name']}: {kind}"
    kind = kind if kind.endswith("None") else f"{kind} | None"
    return f"{parameter['name']}: {kind} = None"


def _annotated(schema: Schema, *, requested: bool = False) -> str:
    """Write a type where classes have methods called `list`."""
    kind = type_of(schema, requested=requested)
    kind = re.sub(r"\blist\[", "Sequence[", kind)
    return re.sub(
        r"(?<![\w.'\"])(?!(?:Any|None|Sequence|Literal|Instant)\b)([A-Z]\w*)(?!['\w])",
        r"shapes.\1",
        kind,
    )


def _is_page(schema: Schema) -> bool:
    return schema.get("$ref", "").startswith(f"{REF}Page_")


def _place(kinds: list[tuple[str, bool]], *, of_workspace: bool) -> str:
    name = "WorkspaceCalls" if of_workspace else "ServerCalls"
    message = "one workspace" if of_workspace else "the whole installation, as far as one may"
    lines = [
        f"class {name}:",
        f'    """Everything that can be asked of {message}."""',
        "",
        "    def __init__(self, asker: Requester, at: str) -> None:",
    ]
    lines += [
        f"        self.{_attribute(tag, of_workspace=inside)} = "
        f"{_class(tag, of_workspace=inside)}(asker, at)"
        for tag, inside in kinds
        if inside is of_workspace
    ]
    return "\n".join(lines) + "\n"
