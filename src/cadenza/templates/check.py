"""Checks a template before anything goes out: names that nobody fills, links, what each channel takes.

`check_version` renders with example values and asks the pipeline's own check (`deliveries/check_fit.py`), so what it
promises is what the permit will find. `find_incomplete` tells a planner whom a missing value would hit. Whether links
answer is asked only on demand, by the guarded client, in `find_dead_links`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlsplit

import msgspec

from cadenza.accounts.model import Account
from cadenza.core.channels import Channel
from cadenza.core.suggest import did_you_mean
from cadenza.deliveries.check_fit import check_content
from cadenza.deliveries.render import Files
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.request import Request, Timeouts
from cadenza.templates.compile import Compiled, slots_of
from cadenza.templates.model import TemplateVersion, Variables
from cadenza.templates.render import Incomplete, RenderedMessage, render

MOST_LISTED = 100
MOST_LINKS = 50  # asked whether they answer
CLIPPED = 102_400  # bytes of HTML: what is longer, Gmail shows cut off
SCHEMES = ("http", "https", "mailto", "tel")
_URL = re.compile(r"https?://[^\s<>\"']+")
EXAMPLES: Mapping[str, str] = {
    "first_name": "Ben",
    "last_name": "Baker",
    "name": "Ben Baker",
    "email": "ben@example.org",
    "company": "Baker & Sons",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateFinding:
    """Something to know of a template: a code, a sentence, where, and whether it keeps it from going out."""

    code: str
    message: str
    field: str = ""
    blocking: bool = True


@dataclass(frozen=True, slots=True)
class Example:
    """A message as the pipeline would render it, for somebody who doesn't exist."""

    channel: Channel
    content: str
    recipient: str | None = "ben@example.org"


@dataclass(frozen=True, slots=True, kw_only=True)
class IncompleteRecipients:
    """Whom missing or unfit values would hit: how many, and the first of them with what is wrong."""

    checked: int
    count: int
    listed: tuple[tuple[str, Incomplete], ...]
    by_name: Mapping[str, int] = field(default_factory=dict[str, int])  # how many each name hits


def find_incomplete(
    version: TemplateVersion,
    recipients: Iterable[tuple[str, Variables]],
    *,
    channel: Channel = Channel.EMAIL,
    most: int = MOST_LISTED,
) -> IncompleteRecipients:
    """Render for every recipient and count those it fails for; a planner refuses the start, or skips them."""
    checked, count = 0, 0
    listed: list[tuple[str, Incomplete]] = []
    by_name: dict[str, int] = {}
    for id_, variables in recipients:
        checked += 1
        made = render(version, variables, channel=channel)
        if not isinstance(made, Incomplete):
            continue
        count += 1
        for name in dict.fromkeys((*made.missing, *made.unfit)):
            by_name[name] = by_name.get(name, 0) + 1
        if len(listed) < most:
            listed.append((id_, made))
    return IncompleteRecipients(
        checked=checked, count=count, listed=tuple(listed), by_name=dict(sorted(by_name.items()))
    )


def examples_for(version: TemplateVersion) -> dict[str, str]:
    """Make up a value for each variable, so that a template can be looked at before anybody is chosen."""
    made: dict[str, str] = {}
    for each in version.variables:
        made[each.name] = EXAMPLES.get(each.name, f"[{each.name}]")
    for name, used in _filters_of(version).items():
        if "number" in used:
            made[name] = "1234.5"
        if "date" in used:
            made[name] = "2026-11-18"
        if "link" in used:
            made[name] = f"https://example.org/{name}"
    return made


def check_version(
    version: TemplateVersion,
    *,
    channel: Channel,
    variables: Variables | None = None,
    account: Account | None = None,
    known: Collection[str] | None = None,
    files: Files | None = None,
) -> list[TemplateFinding]:
    """Return all there is to say of a version on a channel; without an account, its network is not asked."""
    found = [*_unknown(version, known), *_removed(version)]
    values = examples_for(version) if variables is None else variables
    made = render(version, values, channel=channel)
    if isinstance(made, Incomplete):
        said = f"It cannot be rendered: {made.message}."
        return [*found, TemplateFinding(code="incomplete", message=said, field="variables")]
    return [*found, *_links(made), *_mail(made), *_fits(made, account, files)]


def _unknown(version: TemplateVersion, known: Collection[str] | None) -> Iterator[TemplateFinding]:
    for each in version.variables:
        if known is not None and each.name not in known:
            guess = did_you_mean(each.name, known)
            yield TemplateFinding(
                code="unknown_variable",
                message=f"Nothing fills {{{{{each.name}}}}}.{guess}",
                field="variables",
                blocking=each.required,
            )


def _removed(version: TemplateVersion) -> Iterator[TemplateFinding]:
    for each in version.removed:
        yield TemplateFinding(
            code="removed", message=f"Taken out of the HTML: {each}.", field="body", blocking=False
        )


def _links(made: RenderedMessage) -> Iterator[TemplateFinding]:
    for link in links_in(made):
        if (wrong := why_no_link(link)) is not None:
            yield TemplateFinding(code="bad_link", message=f"{link[:200]}: {wrong}.", field="body")


def _mail(made: RenderedMessage) -> Iterator[TemplateFinding]:
    size = len((made.html or "").encode())
    if made.channel is Channel.EMAIL and size > CLIPPED:
        yield TemplateFinding(
            code="clipped",
            message=f"The HTML has {size:,} bytes; Gmail cuts off what is after {CLIPPED:,}.",
            field="body",
            blocking=False,
        )


def _fits(
    made: RenderedMessage, account: Account | None, files: Files | None
) -> Iterator[TemplateFinding]:
    if account is None:
        return
    piece = Example(made.channel, made.content(recipient_name="Ben"))
    for problem in check_content(piece, account, files).problems:
        yield TemplateFinding(
            code=problem.code,
            message=problem.message,
            field=problem.field or "",
            blocking=problem.blocking,
        )


def links_in(made: RenderedMessage) -> list[str]:
    """Name every link of a rendered message, each once."""
    reader = _LinkReader()
    reader.feed(made.html or "")
    reader.close()
    plain = (url.rstrip(".,;:!?)") for url in _URL.findall(made.text))
    return list(dict.fromkeys([*reader.links, *(() if made.html else plain)]))


def why_no_link(link: str) -> str | None:
    """Say why a link leads nowhere, or None."""
    try:
        parts = urlsplit(link)
        _ = parts.port
    except ValueError:
        return "it is not an address"
    if parts.scheme.lower() not in SCHEMES:
        return "a mail has no address of its own: write it with https://"
    if parts.scheme.lower() in ("mailto", "tel"):
        return None if parts.path else "nothing follows the colon"
    if not parts.hostname or not re.fullmatch(r"[^\s\x00-\x1f]+", parts.hostname):
        return "it names no host"
    return None


async def find_dead_links(http: OutboundClient, links: Sequence[str]) -> list[TemplateFinding]:
    """Ask the first links whether they answer; private addresses are never asked."""
    found: list[TemplateFinding] = []
    web = [link for link in links if link.lower().startswith(("http://", "https://"))]
    for link in web[:MOST_LINKS]:
        wait = Timeouts(connect=5, read=10, total=10)
        answer = await http.send(Request("GET", link, timeout=wait, redirects=5))
        if isinstance(answer, Reply) and answer.status < 400:
            continue
        said = (
            f"it answers {answer.status}" if isinstance(answer, Reply) else str(answer).rstrip(".")
        )
        found.append(
            TemplateFinding(
                code="dead_link", message=f"{link[:200]}: {said}.", field="body", blocking=False
            )
        )
    return found


class _LinkReader(HTMLParser):
    """Collects the addresses of links and pictures."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value for name, value in attrs if name in ("href", "src") and value]


def _filters_of(version: TemplateVersion) -> dict[str, set[str]]:
    """Say by name which filters a template uses, and which names stand for links."""
    found: dict[str, set[str]] = {}
    for slot in slots_of(msgspec.json.decode(version.compiled, type=Compiled)):
        used = found.setdefault(slot.name, set())
        used |= {name for name, _ in slot.filters}
        if slot.place.value in ("html_link", "link"):
            used.add("link")
    return found
