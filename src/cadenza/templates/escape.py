"""Puts a value safely where it stands: a line, a text, HTML, an attribute, an address, Telegram's markups.

The place is known when a template is compiled, so no author can forget it and no value can leave it. A value that
stands for a whole link must be an http(s) or mailto address, else it is refused; within a link it is percent-encoded.
"""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from urllib.parse import quote

from cadenza.providers.telegram.markup import escape_html as telegram_html
from cadenza.providers.telegram.markup import escape_markdown as telegram_markdown
from cadenza.templates.filters import BadValue

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SPECIAL = re.compile(r"[&<>\"'\n]")
_ADDRESS = re.compile(
    r"(?:https?://[^\s/?#@\\]+(?:[/?#]\S*)?|mailto:[^\s@,?&]+@[^\s@,?&]+)", re.IGNORECASE
)
_OF_ADDRESSES = "%:/?#[]@!$&'()*+,;=~-._"


class Place(StrEnum):
    """Where a value is put in."""

    LINE = "line"  # one line without control characters: a subject
    TEXT = "text"
    HTML = "html"
    ATTRIBUTE = "attribute"
    HTML_LINK = "html_link"  # the value is the whole address, or its beginning
    HTML_LINK_PART = "html_link_part"
    LINK = "link"  # the same two in plain text that was made from HTML
    LINK_PART = "link_part"
    TELEGRAM_HTML = "telegram_html"
    TELEGRAM_MARKDOWN = "telegram_markdown"


def escape_line(value: str) -> str:
    """Write a value on one line: whatever could end a header becomes a space."""
    return (
        value
        if value.isprintable()
        else _CONTROL.sub(" ", _UNSEEN.sub("", value.replace("\n", " ")))
    )


def escape_text(value: str) -> str:
    """Write a value as it is, without what no reader sees."""
    return value if value.isprintable() else _UNSEEN.sub("", value.replace("\r\n", "\n"))


def escape_html(value: str) -> str:
    """Write a value between tags; its line breaks stay."""
    value = escape_text(value)
    if _SPECIAL.search(value) is None:
        return value
    return _entities(value).replace("\n", "<br>")


def escape_attribute(value: str) -> str:
    """Write a value within an attribute's quotes."""
    return _entities(escape_line(value))


def escape_link(value: str) -> str:
    """Write a value that is a whole address; only those that people can open safely."""
    value = value.strip()
    if _ADDRESS.fullmatch(value) is None:
        raise BadValue("it is not a link: write a whole https address")
    return quote(value, safe=_OF_ADDRESSES, errors="replace")


def escape_link_part(value: str) -> str:
    """Write a value within an address."""
    return quote(value, safe="", errors="replace")


def _entities(value: str) -> str:
    return (
        value.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
        .replace("'", "&#x27;")
    )


ESCAPES: Mapping[Place, Callable[[str], str]] = {
    Place.LINE: escape_line,
    Place.TEXT: escape_text,
    Place.HTML: escape_html,
    Place.ATTRIBUTE: escape_attribute,
    Place.HTML_LINK: lambda value: _entities(escape_link(value)),
    Place.HTML_LINK_PART: escape_link_part,
    Place.LINK: escape_link,
    Place.LINK_PART: escape_link_part,
    Place.TELEGRAM_HTML: lambda value: telegram_html(escape_text(value)),
    Place.TELEGRAM_MARKDOWN: lambda value: telegram_markdown(escape_text(value)),
}
