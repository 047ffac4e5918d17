"""Renders a frozen version for one recipient: a pure function of the version, the channel and the variables.

A version is read once into format strings with numbered slots, one set for each outcome of its conditions; then a
message is a few string operations. A value that is missing or blank is never rendered as nothing: the answer is
`Incomplete`, with the names. Limit: what was read is kept for the last `KEPT` versions.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any

import msgspec

from cadenza.core.channels import Channel
from cadenza.providers.counting import is_blank
from cadenza.templates.compile import EVERYWHERE, Branch, Compiled, Part, Piece, Slot
from cadenza.templates.escape import ESCAPES
from cadenza.templates.filters import FILTERS, BadValue, text_of
from cadenza.templates.model import TemplateVersion, Variables

KEPT = 256  # versions, by channel
MOST_PLANS = 64  # outcomes of conditions that are kept; others are read again
LONGEST_VALUE = 20_000
_KINDS = (str, int, float, date, Decimal)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedMessage:
    """A message for one recipient on one channel, complete but for the recipient."""

    channel: Channel
    text: str
    subject: str = ""
    html: str | None = None
    media: tuple[Mapping[str, Any], ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def content(
        self,
        *,
        recipient_name: str = "",
        recipient_fields: Mapping[str, str] | None = None,
        unsubscribe_url: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> str:
        """Return the JSON that a delivery keeps and `deliveries/render.py` reads."""
        said: dict[str, Any] = {
            "text": self.text,
            "subject": self.subject,
            "html": self.html,
            "media": [dict(each) for each in self.media],
            "options": {**self.options, **(options or {})},
            "recipient_name": recipient_name,
            "recipient_fields": dict(recipient_fields or {}),
            "unsubscribe_url": unsubscribe_url,
        }
        kept = {name: value for name, value in said.items() if value or name == "text"}
        return msgspec.json.encode(kept, order="sorted").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Incomplete:
    """It cannot be rendered for this recipient: names without a value, and values that do not fit."""

    missing: tuple[str, ...] = ()
    unfit: Mapping[str, str] = field(default_factory=dict[str, str])  # why, by name

    @property
    def message(self) -> str:
        """Say it in one line."""
        said = [f"{', '.join(self.missing)} missing"] if self.missing else []
        said += [f"{name}: {why}" for name, why in self.unfit.items()]
        return "; ".join(said)


def render(
    version: TemplateVersion, variables: Variables, *, channel: Channel = Channel.EMAIL
) -> RenderedMessage | Incomplete:
    """Render for one recipient."""
    return renderer_of(version.compiled, channel).render(variables)


@dataclass(frozen=True, slots=True)
class Plan:
    """One outcome of a version's conditions: three format strings, and the slots that each takes."""

    slots: tuple[tuple[str, bool, Callable[[Any], str]], ...]  # name, has a default, value to text
    text: tuple[str, tuple[int, ...]]
    subject: tuple[str, tuple[int, ...]]
    html: tuple[str, tuple[int, ...]] | None


class Renderer:
    """A version's part for one channel, read and ready."""

    def __init__(self, part: Part, channel: Channel) -> None:
        self.channel = channel
        self._part = part
        self._conditions = tuple(dict.fromkeys(_conditions(part)))
        self._plans: dict[tuple[bool, ...], Plan] = {}

    def render(self, variables: Variables) -> RenderedMessage | Incomplete:
        """Render, or say what is missing."""
        plan = self._plan(tuple([is_there(variables.get(name)) for name in self._conditions]))
        values: list[str] = []
        missing: list[str] = []
        unfit: dict[str, str] = {}
        for name, has_default, write in plan.slots:
            value = variables.get(name)
            try:
                if is_given(value):
                    values.append(write(_checked(value)))
                elif has_default:
                    values.append(write(None))
                else:
                    missing.append(name)
            except BadValue as error:
                unfit[name] = str(error)
        if missing or unfit:
            return Incomplete(missing=tuple(dict.fromkeys(missing)), unfit=unfit)
        part, pick = self._part, values.__getitem__
        text = plan.text[0] % tuple(map(pick, plan.text[1]))
        subject = plan.subject[0] % tuple(map(pick, plan.subject[1]))
        html = None if plan.html is None else plan.html[0] % tuple(map(pick, plan.html[1]))
        return RenderedMessage(
            channel=self.channel,
            text=_tidy(text) if self._conditions else text,
            subject=" ".join(subject.split()) if self._conditions else subject.strip(),
            html=html,
            media=part.media,
            options=part.options,
        )

    def _plan(self, outcome: tuple[bool, ...]) -> Plan:
        plan = self._plans.get(outcome)
        if plan is None:
            plan = _read(self._part, dict(zip(self._conditions, outcome, strict=True)))
            if len(self._plans) < MOST_PLANS:
                self._plans[outcome] = plan
        return plan


@lru_cache(maxsize=KEPT)
def renderer_of(compiled: str, channel: Channel) -> Renderer:
    """Read a compiled version for one channel; kept for the next recipient."""
    parts = msgspec.json.decode(compiled, type=Compiled).parts
    return Renderer(parts.get(channel.value) or parts[EVERYWHERE], channel)


def is_given(value: object) -> bool:
    """Say whether there is a value at all: None and text that nobody sees are none."""
    if not isinstance(value, str):
        return value is not None
    if value.isascii():  # the usual case, three times as fast
        return (value.isprintable() and not value.isspace() and value != "") or not is_blank(value)
    return not is_blank(value)


def is_there(value: object) -> bool:
    """Say how a condition sees a value: given, and not false."""
    return is_given(value) and value is not False


def _checked(value: object) -> Any:
    if isinstance(value, str):
        if len(value) > LONGEST_VALUE:
            raise BadValue(f"it is longer than {LONGEST_VALUE:,} characters")
        return value
    if not isinstance(value, _KINDS):
        raise BadValue("it is neither a text, a number nor a date")
    return value


def _read(part: Part, outcome: Mapping[str, bool]) -> Plan:
    found: dict[Slot, int] = {}

    def part_of(pieces: Sequence[Piece]) -> tuple[str, tuple[int, ...]]:
        form: list[str] = []
        numbers: list[int] = []
        for piece in _chosen(pieces, outcome):
            if isinstance(piece, str):
                form.append(piece.replace("%", "%%"))
            else:
                form.append("%s")
                numbers.append(found.setdefault(piece, len(found)))
        return "".join(form), tuple(numbers)

    text, subject = part_of(part.text), part_of(part.subject)
    html = None if part.html is None else part_of(part.html)
    slots = tuple((slot.name, slot.has_default, _writer(slot)) for slot in found)
    return Plan(slots, text, subject, html)


def _chosen(pieces: Sequence[Piece], outcome: Mapping[str, bool]) -> Iterator[str | Slot]:
    for piece in pieces:
        if isinstance(piece, Branch):
            yield from _chosen(piece.then if outcome[piece.name] else piece.otherwise, outcome)
        else:
            yield piece


def _writer(slot: Slot) -> Callable[[Any], str]:
    """Make the function from a value to its text: filters in order, then the escape of its place."""
    escape = ESCAPES[slot.place]
    filters = slot.filters
    default = str(filters[0][1][0]) if slot.has_default else ""
    steps = [(FILTERS[n].apply, arguments) for n, arguments in filters if n != "default"]
    if not steps:
        return lambda value: escape(text_of(default if value is None else value))

    def write(value: Any) -> str:
        said: Any = default if value is None else value
        for apply, arguments in steps:
            said = apply(said, *arguments)
        return escape(said)

    return write


def _conditions(part: Part) -> Iterator[str]:
    for pieces in (part.subject, part.text, part.html or ()):
        yield from _named(pieces)


def _named(pieces: Sequence[Piece]) -> Iterator[str]:
    for piece in pieces:
        if isinstance(piece, Branch):
            yield piece.name
            yield from _named(piece.then)
            yield from _named(piece.otherwise)


def _tidy(text: str) -> str:
    """Leave one blank line where a condition took words away."""
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip("\n")
