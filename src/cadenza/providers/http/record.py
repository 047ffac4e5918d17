"""Write a request and its answer down for people to read: bounded, and without anything that opens a door.

What may show is listed, not what may not: names of headers and query parameters, shapes of path segments.
Bodies are read as data; fields with a credential's name, addresses inside them and long opaque words are
hidden, and every secret that the request or the run names is blotted out wherever it stands. Files are
named, never shown. Limit: a word that a network made a secret of without telling shows if it looks plain.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from cadenza.providers.http.encode import secrets_of
from cadenza.providers.http.exchange import Exchange
from cadenza.providers.http.outcome import Outcome, Reply
from cadenza.providers.http.redact import MARK, Redactor, Secret
from cadenza.providers.http.request import File, Form, Json, Multipart, Request, Stream

HIDDEN = "[hidden]"
MOST = 2048  # characters of a body
LINE = 600  # of one text inside it
LARGEST = (
    256 * 1024
)  # bytes of an answer that is read as data; of a larger one only the size is told
DEEPEST = 12
MANY = 40  # items of a list or fields of an object

SENT = frozenset(
    {
        *("accept", "accept-language", "content-type", "content-length", "user-agent"),
        *("content-range", "range", "offset", "file_size", "idempotency-key"),
        *("linkedin-version", "x-restli-protocol-version", "x-restli-method"),
        *("webhook-id", "webhook-timestamp"),
    }
)
CAME = frozenset(
    {
        *("content-type", "content-length", "date", "retry-after", "via", "server"),
        *("x-request-id", "request-id", "x-fb-trace-id", "x-fb-rev", "x-fb-debug", "x-li-uuid"),
        *("x-li-fabric", "x-li-pop", "x-restli-id", "x-transaction-id", "x-slack-req-id", "cf-ray"),
        *("x-app-usage", "x-page-usage", "x-business-use-case-usage", "x-ad-account-usage"),
    }
)
_RATE = re.compile(r"(x-)?rate-?limit[a-z-]*|x-rate-limit[a-z-]*|x-app-limit[a-z-]*")
ASKED = frozenset(
    {
        *("fields", "limit", "count", "wait", "type", "action", "finish", "sync", "media_category"),
        *("command", "max_results", "exclude_replies", "exclude_reblogs", "with_replies", "sort"),
        *("max-results", "tweet.fields", "collection", "repo", "rkey", "actor", "filter"),
        *("since_id", "until_id", "start_time", "since", "until", "thread_id", "account_id"),
        *(
            "q",
            "author",
            "isDirectSponsoredContent",
            "sortBy",
            "projection",
            "ids",
            "id",
            "media_id",
        ),
    }
)
_CREDENTIAL = re.compile(
    r"(?i)token|secret|passw|pwd|jwt|credential|signature|cookie|session|authori[sz]|oauth|assertion|"
    r"verifier|bearer|(api|access|private|secret)_?key|^auth$|^key$|^sig$|^code$|^otp$"
)
_ADDRESS = re.compile(r"(?i)\b(?:https?|wss?)://[^\s\"'<>\\]+")
_PLAIN = re.compile(
    r"[A-Za-z][A-Za-z_.~@-]{0,47}|[A-Za-z0-9_.~@-]{1,11}|v?\d+([._]\d+)*|urn:li:\w+:\d+"
)
_OPAQUE = re.compile(r"[\w+/=.~-]{32,}")


def record(
    request: Request,
    came: Outcome | None,
    *,
    began_at: datetime,
    seconds: float,
    secrets: Iterable[Secret] = (),
) -> Exchange:
    """Return the exchange; whatever cannot be shown is only told of, and nothing here raises."""
    redaction = _Redaction((*secrets_of(request), *secrets))
    reply = came if isinstance(came, Reply) else None
    return Exchange(
        began_at=began_at,
        seconds=seconds,
        method=request.method,
        place=_safely(lambda: redaction.place(request.url)),
        headers=_headers(request.headers, SENT, redaction, name_others=True),
        body=None if request.body is None else _safely(lambda: _body(request, redaction)),
        status=getattr(came, "status", None),
        reply_headers={} if reply is None else _headers(reply.headers, CAME, redaction),
        reply=None if reply is None else _safely(lambda: _answer(reply, redaction)),
        message="" if reply else getattr(came, "message", "We stopped waiting for an answer."),
    )


def redacted(text: str, secrets: Iterable[Secret] = ()) -> str:
    """Return a text of another protocol as it may be shown."""
    return _safely(lambda: _cut(_Redaction(tuple(secrets)).text(text), LINE))


class _Redaction:
    """Knows the secrets of one exchange, and how each kind of text is shown without them."""

    def __init__(self, secrets: tuple[Secret, ...]) -> None:
        self._redact_text = Redactor(secrets).redact_text
        self._addresses = {each.reveal() for each in secrets if "://" in each.reveal()}

    def place(self, url: str) -> str:
        """Return host and path, and the query's values that are on the list."""
        parts = urlsplit(url)
        start = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        if any(url.startswith(address) for address in self._addresses):
            return f"{start}/{MARK}"
        path = "/".join(_segment(each) for each in self._redact_text(parts.path).split("/"))
        requested = [
            f"{name}={_words(self._redact_text(value))}" if name in ASKED else f"{name}={HIDDEN}"
            for name, value in parse_qsl(parts.query, keep_blank_values=True)
        ]
        return _cut(start + path + ("?" + "&".join(requested) if requested else ""), LINE)

    def text(self, text: str) -> str:
        """Return a text without secrets, with what its addresses may show."""
        text = self._redact_text(text)
        if "://" not in text:
            return _words(text)
        shown, at = "", 0
        for found in _ADDRESS.finditer(text):
            shown += _words(text[at : found.start()]) + self.place(found.group())
            at = found.end()
        return shown + _words(text[at:])

    def data(self, value: Any, deep: int = 0) -> Any:
        """Return data with its credentials hidden, its texts and lists cut."""
        match value:
            case Secret():
                return MARK
            case str():
                return _cut(self.text(value), LINE)
            case Mapping() if deep < DEEPEST:
                return {
                    _words(self._redact_text(str(name)))[:80]: HIDDEN
                    if _CREDENTIAL.search(str(name))
                    else self.data(inner, deep + 1)
                    for name, inner in list(value.items())[:MANY]
                }
            case list() | tuple() if deep < DEEPEST:
                shown = [self.data(inner, deep + 1) for inner in value[:MANY]]
                return shown if len(value) <= MANY else [*shown, f"… {len(value) - MANY} more"]
            case None | bool() | int() | float():
                return value
            case _:
                return HIDDEN


def _safely(show: Callable[[], str]) -> str:
    """Show it, or say that it cannot be shown: evidence must never cost an outcome."""
    try:
        # A lone surrogate is valid in JSON and in no database.
        return show().encode("utf-8", "replace").decode().replace("\0", "\N{SYMBOL FOR NULL}")
    except Exception:  # noqa: BLE001 - whatever a network sends, the outcome goes its way
        return "(it cannot be shown)"


def _segment(segment: str) -> str:
    return segment if not segment or MARK in segment or _PLAIN.fullmatch(segment) else HIDDEN


def _words(text: str) -> str:
    return _OPAQUE.sub(lambda found: HIDDEN if _opaque(found.group()) else found.group(), text)


def _opaque(word: str) -> bool:
    """Say whether a long word looks drawn by chance: tokens do, names of fields and hashes do not."""
    kinds = (str.isupper, str.islower, str.isdigit)
    return all(any(kind(character) for character in word) for kind in kinds)


def _headers(
    given: Mapping[str, str | Secret],
    shown: frozenset[str],
    redaction: _Redaction,
    *,
    name_others: bool = False,
) -> dict[str, str]:
    """Show the values that are listed; of what we sent, name the others."""
    told: dict[str, str] = {}
    for name, value in given.items():
        low = name.lower()
        listed = low in shown or (not name_others and _RATE.fullmatch(low))
        if listed and isinstance(value, str):
            told[low] = _safely(lambda value=value: _cut(redaction.text(value), 300))
        elif name_others:
            told[low] = HIDDEN
    return told


def _body(request: Request, redaction: _Redaction) -> str:
    body = request.body
    match body:
        case Json():
            return _dump(redaction.data(body.value))
        case Form():
            return _dump(_fields(body.fields, redaction))
        case Multipart():
            return _dump({**_fields(body.fields, redaction), **_files(body)})
        case bytes():
            kind = str(
                next((v for n, v in request.headers.items() if n.lower() == "content-type"), "")
            )
            return _bytes(body, kind, redaction)
        case Stream():
            return f"({body.length} bytes)" if body.length is not None else "(bytes)"
        case None:
            return ""


def _fields(fields: Mapping[str, str | Secret], redaction: _Redaction) -> dict[str, Any]:
    """Show a form; a field that holds data itself is read as such."""
    opened = {name: _opened(value) for name, value in fields.items()}
    shown: dict[str, Any] = redaction.data(opened)
    return shown


def _opened(value: str | Secret) -> Any:
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _files(body: Multipart) -> dict[str, str]:
    def told(file: File) -> str:
        size = f", {len(file.content)} bytes" if isinstance(file.content, bytes) else ""
        return f"({file.type}{size})"

    return {
        name: ", ".join(told(file) for file in (given if isinstance(given, tuple) else (given,)))
        for name, given in body.files.items()
    }


def _answer(reply: Reply, redaction: _Redaction) -> str:
    return _bytes(reply.body, reply.header("content-type") or "", redaction)


def _bytes(body: bytes, kind: str, redaction: _Redaction) -> str:
    """Show bytes by what they are: data, text, or only their size."""
    kind = kind.partition(";")[0].strip().lower()
    if not body:
        return ""
    if len(body) > LARGEST:
        return f"({len(body)} bytes of {kind or 'something'})"
    if kind.endswith("json") or body[:1] in b"{[":
        try:
            return _dump(redaction.data(json.loads(body)))
        except (ValueError, RecursionError):
            pass
    if kind.endswith("x-www-form-urlencoded"):
        return _dump(_fields(dict(parse_qsl(body.decode("utf-8", "replace"))), redaction))
    if kind.startswith("text/") or kind.endswith(("json", "xml", "html")) or not kind:
        return _cut(redaction.text(body.decode("utf-8", "replace")), MOST)
    return f"({len(body)} bytes of {kind})"


def _dump(data: Any) -> str:
    try:
        text = msgspec.json.format(msgspec.json.encode(data), indent=1).decode()
    except (
        ValueError,
        OverflowError,
        UnicodeError,
    ):  # what it cannot write: huge numbers, surrogates
        text = json.dumps(data, ensure_ascii=False, indent=1)
    return _cut(text, MOST)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"
