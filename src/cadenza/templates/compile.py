"""Compiles a template's content: each channel's subject, text and HTML as pieces that only need values.

Whatever can be wrong with a text is found here, before it is saved: `TemplateFault` names the field, line and column.
The result is data (`Compiled`), stored with the version.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any, TypeAlias

import msgspec

from cadenza.core.channels import Channel
from cadenza.templates.escape import Place
from cadenza.templates.html import HtmlToken, MadeHtml, Placed, from_html, from_markdown
from cadenza.templates.language import (
    Else,
    EndIf,
    FilterCall,
    If,
    TemplateFault,
    Token,
    Variable,
    tokenize,
)
from cadenza.templates.model import (
    BodyFormat,
    TemplateContent,
    TemplateMedia,
    TemplateVariable,
    TemplateVariant,
)

EVERYWHERE = ""  # the part of channels without a variant of their own
LONGEST_SUBJECT = 998
_HEAD = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
MAIL = (f"<!doctype html><html><head>{_HEAD}</head><body>", "</body></html>")
_BEGINS = re.compile(r"\n[ \t]*$")
_ENDS = re.compile(r"[ \t]*(?:\r?\n|$)")
_MODES = {"html": Place.TELEGRAM_HTML, "markdownv2": Place.TELEGRAM_MARKDOWN}


class Slot(msgspec.Struct, frozen=True, tag="value", omit_defaults=True):
    """A value put in: its name, its filters in order, where it stands."""

    name: str
    place: Place
    filters: tuple[tuple[str, tuple[str | int, ...]], ...] = ()

    @property
    def has_default(self) -> bool:
        """Say whether it can do without a value."""
        return bool(self.filters) and self.filters[0][0] == "default"


class Branch(msgspec.Struct, frozen=True, tag="if", omit_defaults=True):
    """Pieces for those with a value of that name, and for those without."""

    name: str
    then: "tuple[str | Slot | Branch, ...]" = ()
    otherwise: "tuple[str | Slot | Branch, ...]" = ()


Piece: TypeAlias = str | Slot | Branch


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one channel gets."""

    text: tuple[Piece, ...] = ()
    subject: tuple[Piece, ...] = ()
    html: tuple[Piece, ...] | None = None
    media: tuple[dict[str, Any], ...] = ()
    options: dict[str, Any] = {}


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """A template ready to be rendered: a part for every channel that differs, and one for all others."""

    parts: dict[str, Part]


@dataclass(frozen=True, slots=True)
class CompiledContent:
    """What compiling came to."""

    compiled: Compiled
    variables: tuple[TemplateVariable, ...]
    removed: tuple[str, ...]


def compile_content(
    content: TemplateContent, media: Mapping[str, Mapping[str, Any]] | None = None
) -> CompiledContent:
    """Compile, or raise `TemplateFault`; `media` are the files by id, as a delivery carries them."""
    made = _body(content)
    files = media or {}
    with _field("subject"):
        subject = _line(content.subject)
    if not content.body.strip():
        raise _fault("body", "write a text")
    text = made.text
    everywhere = Part(
        text=_pieces(_standalone(text)), subject=subject, media=_files(content.media, files)
    )
    mail = content.variants.get(Channel.EMAIL, TemplateVariant())
    parts = {EVERYWHERE: everywhere, Channel.EMAIL.value: _mail(content, made, everywhere)}
    for channel, variant in content.variants.items():
        base = parts[Channel.EMAIL.value] if channel is Channel.EMAIL else everywhere
        parts[channel.value] = _variant(channel, variant, base, files)
    if mail.text is not None and made.html:
        # Whoever writes a mail's text for itself wants it beside the HTML, not instead of it.
        parts[Channel.EMAIL.value] = msgspec.structs.replace(
            parts[Channel.EMAIL.value], html=_document(made.html)
        )
    return CompiledContent(Compiled(parts=parts), _variables(parts.values()), made.removed)


def _body(content: TemplateContent) -> MadeHtml:
    with _field("body"):
        if content.format is BodyFormat.TEXT:
            placed = [
                Placed(each, Place.TEXT) if isinstance(each, Variable) else each
                for each in tokenize(content.body)
            ]
            return MadeHtml([], placed, ())
        if content.format is BodyFormat.MARKDOWN:
            return from_markdown(tokenize(content.body))
        return from_html(tokenize(_plain_tags(content.body)), content.css)


def _mail(content: TemplateContent, made: MadeHtml, base: Part) -> Part:
    html = _document(made.html) if made.html else None
    if content.text is None:
        return msgspec.structs.replace(base, html=html)
    with _field("text"):
        return msgspec.structs.replace(base, html=html, text=_plain(content.text, Place.TEXT))


def _variant(
    channel: Channel, variant: TemplateVariant, base: Part, files: Mapping[str, Mapping[str, Any]]
) -> Part:
    field = f"variants.{channel.value}"
    mode = str(variant.options.get("parse_mode") or "").lower()
    place = _MODES.get(mode, Place.TEXT) if channel is Channel.TELEGRAM else Place.TEXT
    part = msgspec.structs.replace(base, options=dict(variant.options))
    if variant.text is not None:
        with _field(f"{field}.text"):
            part = msgspec.structs.replace(part, text=_plain(variant.text, place))
    elif place is not Place.TEXT:
        raise _fault(f"{field}.text", "write this channel's text in the markup that it is set to")
    if variant.subject is not None:
        with _field(f"{field}.subject"):
            part = msgspec.structs.replace(part, subject=_line(variant.subject))
    if variant.media is not None:
        part = msgspec.structs.replace(part, media=_files(variant.media, files))
    return part


def _plain(source: str, place: Place) -> tuple[Piece, ...]:
    if not source.strip():
        raise TemplateFault("write a text, or leave it out")
    placed = [Placed(t, place) if isinstance(t, Variable) else t for t in tokenize(source)]
    return _pieces(_standalone(placed))


def _line(source: str) -> tuple[Piece, ...]:
    if len(source) > LONGEST_SUBJECT:
        raise TemplateFault(f"a subject has at most {LONGEST_SUBJECT} characters")
    if re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", source):
        raise TemplateFault("a subject is one line, without control characters")
    tokens: list[Token] = tokenize(source)
    return _pieces([Placed(t, Place.LINE) if isinstance(t, Variable) else t for t in tokens])


def _document(html: Sequence[HtmlToken]) -> tuple[Piece, ...]:
    return _pieces([MAIL[0], *html, MAIL[1]])


def _plain_tags(source: str) -> str:
    """Read entities within braces: editors write a quote there as `&quot;`."""
    return re.sub(r"\{\{[^{}]*\}\}", lambda tag: unescape(tag[0]), source)


def _standalone(tokens: Sequence[HtmlToken]) -> list[HtmlToken]:
    """Take away the line of a condition that stands alone on it, so that it leaves no blank line behind."""
    out = list(tokens)
    for place, token in enumerate(out):
        if not isinstance(token, If | Else | EndIf):
            continue
        before = out[place - 1] if place else "\n"
        after = out[place + 1] if place + 1 < len(out) else "\n"
        if not isinstance(before, str) or not isinstance(after, str):
            continue
        begins = _BEGINS.search(before) or (place == 1 and not before.strip(" \t"))
        ends = _ENDS.match(after)
        if not begins or not ends:
            continue
        if place:
            out[place - 1] = before.rstrip(" \t")
        if place + 1 < len(out):
            out[place + 1] = after[ends.end() :]
    return [each for each in out if each != ""]


def _pieces(tokens: Sequence[HtmlToken]) -> tuple[Piece, ...]:
    """Build the tree of pieces; nesting was checked when the text was read."""
    pieces, rest = _until(iter(tokens))
    assert rest is None, "conditions end"
    return pieces


def _until(tokens: Iterator[HtmlToken]) -> tuple[tuple[Piece, ...], Else | EndIf | None]:
    found: list[Piece] = []
    for token in tokens:
        match token:
            case Else() | EndIf():
                return tuple(found), token
            case If(name):
                then, end = _until(tokens)
                otherwise: tuple[Piece, ...] = ()
                if isinstance(end, Else):
                    otherwise, _ = _until(tokens)
                found.append(Branch(name, then, otherwise))
            case Placed(variable, place):
                found.append(Slot(variable.name, place, tuple(map(_call, variable.filters))))
            case str():
                if found and isinstance(found[-1], str):
                    found[-1] += token
                else:
                    found.append(token)
    return tuple(found), None


def _call(call: FilterCall) -> tuple[str, tuple[str | int, ...]]:
    return call.name, call.arguments


def _files(
    shown: Sequence[TemplateMedia], files: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, Any], ...]:
    return tuple(
        {**files[each.media_id], **({} if each.alt is None else {"alt": each.alt})}
        for each in shown
        if each.media_id in files
    )


def _variables(parts: Iterable[Part]) -> tuple[TemplateVariable, ...]:
    """Name every variable; one is required if some place needs it whatever else is known."""
    needed: dict[str, bool] = {}
    for part in parts:
        for pieces in (part.subject, part.text, part.html or ()):
            for name, required in _uses(pieces, frozenset()):
                needed[name] = needed.get(name, False) or required
    return tuple(TemplateVariable(name=n, required=r) for n, r in sorted(needed.items()))


def _uses(pieces: Sequence[Piece], known: frozenset[str]) -> Iterator[tuple[str, bool]]:
    for piece in pieces:
        match piece:
            case Slot(name=name):
                yield name, not piece.has_default and name not in known
            case Branch(name=name, then=then, otherwise=otherwise):
                yield name, False
                yield from _uses(then, known | {name})
                yield from _uses(otherwise, known)
            case _:
                pass


def slots_of(compiled: Compiled) -> Iterator[Slot]:
    """Name every place where a value is put in, also those within conditions."""

    def within(pieces: Sequence[Piece]) -> Iterator[Slot]:
        for piece in pieces:
            if isinstance(piece, Branch):
                yield from within((*piece.then, *piece.otherwise))
            elif isinstance(piece, Slot):
                yield piece

    for part in compiled.parts.values():
        yield from within((*part.subject, *part.text, *(part.html or ())))


class _field:  # noqa: N801 - reads as a statement: with _field("subject")
    """Names the field of a fault that is raised within."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, fault: object, trace: object) -> None:
        if isinstance(fault, TemplateFault) and not fault.field:
            fault.field = self.name


def _fault(field: str, message: str) -> TemplateFault:
    fault = TemplateFault(message)
    fault.field = field
    return fault
