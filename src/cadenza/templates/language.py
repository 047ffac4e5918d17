"""The template language: `{{first_name}}`, `{{name | default: "there"}}`, `{{#if company}}…{{else}}…{{/if}}`.

A text is read once into literals, variables and conditions; whatever else stands between double braces is refused
with its line and column. A name is looked up in a flat map and nowhere else, so there is nothing that a text could
call, read or compute. Limit: no loops, no comparisons, no nesting of names, on purpose.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cadenza.core.suggest import did_you_mean
from cadenza.templates.filters import FILTERS, Argument

DEEPEST = 5  # conditions inside conditions
MOST_TAGS = 1_000
LONGEST = 200_000  # characters of one text
LONGEST_NAME = 64

_TAG = re.compile(r"\{\{((?:\"[^\"]*\"|'[^']*'|[^\"'{}])*)\}\}")
_NAME = re.compile(r"[^\W\d_]\w*")
_ARGUMENT = re.compile(r"\s*(?:\"([^\"]*)\"|'([^']*)'|(-?\d{1,9}))\s*(,|$)")
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "\u2018": "'", "’": "'", "\u00a0": " "})


class TemplateFault(ValueError):
    """The text cannot be read as a template; the message says what to change, and where it stands."""

    def __init__(self, message: str, *, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.field = ""  # which text of the template: set by who knows


@dataclass(frozen=True, slots=True)
class FilterCall:
    """A filter with its arguments."""

    name: str
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """A place where a value is put in."""

    name: str
    filters: tuple[FilterCall, ...] = ()


@dataclass(frozen=True, slots=True)
class If:
    """`{{#if name}}`: what follows appears only where there is such a value."""

    name: str


@dataclass(frozen=True, slots=True)
class Else:
    """`{{else}}`."""


@dataclass(frozen=True, slots=True)
class EndIf:
    """`{{/if}}`."""


Tag: TypeAlias = Variable | If | Else | EndIf
Token: TypeAlias = str | Tag


def tokenize(source: str) -> list[Token]:
    """Read a text into literals and tags, or raise `TemplateFault`; conditions are checked for their ends."""
    if len(source) > LONGEST:
        raise TemplateFault(f"a text has at most {LONGEST:,} characters; this has {len(source):,}")
    found = list(_tokens(source))
    if sum(not isinstance(each, str) for each in found) > MOST_TAGS:
        raise TemplateFault(f"a text has at most {MOST_TAGS:,} variables and conditions")
    check_nesting(found)
    return found


def check_nesting(tokens: Sequence[Token]) -> None:
    """Refuse a condition that does not end, an end without a condition, and too many inside each other."""
    opened: list[tuple[str, bool]] = []  # the name, and whether its else has come
    for token in tokens:
        match token:
            case If(name):
                opened.append((name, False))
                if len(opened) > DEEPEST:
                    raise TemplateFault(f"conditions stand at most {DEEPEST} deep in each other")
            case Else():
                if not opened or opened[-1][1]:
                    raise TemplateFault("{{else}} belongs between {{#if name}} and {{/if}}, once")
                opened[-1] = (opened[-1][0], True)
            case EndIf():
                if not opened:
                    raise TemplateFault("{{/if}} ends nothing: begin with {{#if name}}")
                opened.pop()
            case _:
                pass
    if opened:
        raise TemplateFault(f"{{{{#if {opened[-1][0]}}}}} does not end: write {{{{/if}}}}")


def _tokens(source: str) -> Iterator[Token]:
    at = 0
    while (start := source.find("{{", at)) >= 0:
        if start > at:
            yield source[at:start]
        found = _TAG.match(source, start)
        try:
            if found is None:
                raise TemplateFault(_why_unread(source, start))
            yield _tag(found[1].translate(_QUOTES).strip())
        except TemplateFault as fault:
            fault.line = source.count("\n", 0, start) + 1
            fault.column = start - source.rfind("\n", 0, start)
            raise
        at = found.end()
    if at < len(source):
        yield source[at:]


def _why_unread(source: str, start: int) -> str:
    if source.startswith("{{{", start):
        return "three braces mean nothing here: values are always escaped; write {{name}}"
    return "{{ opens a variable that does not end: close it with }}, or leave out one brace"


def _tag(inner: str) -> Tag:
    if inner == "else":
        return Else()
    if inner == "/if":
        return EndIf()
    if inner.startswith("#if ") or inner == "#if":
        return If(_name(inner[3:].strip(), inner))
    if inner.startswith(("#", "/", "^", "!", ">", "&", "%", "=")):
        raise TemplateFault(
            f"{{{{{inner[:40]}}}}} means nothing: there are {{{{name}}}}, {{{{name | filter}}}} and "
            "{{#if name}}…{{else}}…{{/if}}"
        )
    first, *rest = _split(inner, "|")
    filters = tuple(_filter(each.strip()) for each in rest)
    late = [each.name for each in filters[1:] if each.name == "default"]
    if late:
        raise TemplateFault("`default` comes first: it stands in for a value that is missing")
    return Variable(_name(first.strip(), inner), filters)


def _name(name: str, inner: str) -> str:
    if _NAME.fullmatch(name) and len(name) <= LONGEST_NAME:
        return name
    if not name:
        raise TemplateFault("write the name of a variable between the braces: {{first_name}}")
    raise TemplateFault(
        f"{{{{{inner[:40]}}}}} is not a variable: a name has letters, digits and _, and begins with a letter"
    )


def _filter(said: str) -> FilterCall:
    name, colon, rest = said.partition(":")
    name = name.strip()
    kind = FILTERS.get(name)
    if kind is None:
        guess = did_you_mean(name, FILTERS)
        raise TemplateFault(f"there is no filter {name[:40]!r}.{guess}")
    arguments = tuple(_arguments(rest, name)) if colon else ()
    if (wrong := kind.why_not(arguments)) is not None:
        raise TemplateFault(f"{name}: {wrong}")
    return FilterCall(name, arguments)


def _arguments(said: str, name: str) -> Iterator[Argument]:
    at = 0
    while True:
        found = _ARGUMENT.match(said, at)
        if found is None:
            raise TemplateFault(f'{name}: write arguments in quotes, or as whole numbers: "there"')
        double, single, number, end = found.groups()
        if number is not None:
            yield int(number)
        else:
            yield double if double is not None else single
        at = found.end()
        if end != ",":
            return


def _split(text: str, sign: str) -> list[str]:
    """Split at a sign that does not stand in quotes."""
    parts, quote, start = list[str](), "", 0
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == sign:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]
