"""A post's text as Mastodon shows it: HTML with shortened links and mentions without their host.

An adapter that looks for its own post must find it again in this dress; so the dress is worn here.
"""

import re
from html import escape

from cadenza.providers.counting import URL

_MENTION = re.compile(r"@(\w+)@([\w.-]*\w)")


_STRONG = re.compile(r"\*\*(\S.*?)\*\*")
_ITEMS = re.compile(r"(?:^\* .*\n?)+", re.MULTILINE)
_NAMED_LINK = re.compile(r"\[([^\]]+)\]\((https?://[^)\s]+)\)")


def render(text: str, *, markdown: bool = False) -> str:
    """Dress a text: paragraphs, line breaks, links in three spans, mentions in cards."""
    if markdown:
        return _render_markdown(text)
    paragraphs = re.split(r"\n{2,}", text.strip())
    return "".join(f"<p>{_line_breaks(each)}</p>" for each in paragraphs)


def _render_markdown(text: str) -> str:
    """Dress a text as a server that takes it for Markdown: some signs are gone, links have names."""
    paragraphs = re.split(r"\n{2,}", escape(text.strip(), quote=False))
    strong = (_STRONG.sub(r"<strong>\1</strong>", each) for each in paragraphs)
    linked = (_NAMED_LINK.sub(r'<a href="\2">\1</a>', each) for each in strong)
    return "".join(f"<p>{_ITEMS.sub(_list, each)}</p>" for each in linked)


def _list(items: re.Match[str]) -> str:
    """Dress items as a list: no blank stands between one and the next."""
    each = (line.removeprefix("* ") for line in items.group().rstrip("\n").split("\n"))
    return "</p><ul>" + "".join(f"<li>{line}</li>" for line in each) + "</ul><p>"


def _line_breaks(paragraph: str) -> str:
    return "<br />".join(_dress(line) for line in paragraph.split("\n"))


def _dress(line: str) -> str:
    out, at = "", 0
    for link in URL.finditer(line):
        out += _mentions(line[at : link.start()]) + _link(link.group())
        at = link.end()
    return out + _mentions(line[at:])


def _mentions(text: str) -> str:
    return _MENTION.sub(
        r'<span class="h-card"><a href="https://\2/@\1" class="u-url mention">@<span>\1</span></a></span>',
        escape(text, quote=False),
    )


def _link(url: str) -> str:
    scheme, _, rest = url.partition("://")
    shown, hidden = escape(rest[:30]), escape(rest[30:])
    return (
        f'<a href="{escape(url)}" rel="nofollow noopener"><span class="invisible">{scheme}://</span>'
        f'<span class="ellipsis">{shown}</span><span class="invisible">{hidden}</span></a>'
    )
