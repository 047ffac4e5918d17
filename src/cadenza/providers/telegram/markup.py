"""Telegram's two markups: write plain text in them, and read them as its server does.

`parse` gives the text that people will see, which is what Telegram counts, or raises `BadMarkup` with
the server's own sentence. Limit: of links and custom emoji only the shape is read, not the target.
"""

import re
from html import unescape

HTML = "HTML"
MARKDOWN = "MarkdownV2"
MODES = (HTML, MARKDOWN)

TAGS = frozenset(
    {
        *("a", "b", "strong", "i", "em", "s", "strike", "del", "u", "ins", "span"),
        *("tg-spoiler", "tg-emoji", "tg-time", "pre", "code", "blockquote"),
    }
)
_RESERVED = "_*[]()~`>#+-=|{}.!"
_TAG = re.compile(r"<(/?)([a-zA-Z][\w-]*)((?:\s[^<>]*)?)>")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|#\d{1,8}|#x[0-9a-fA-F]{1,8});")
_MARKS = (  # the longer first
    ("||", "Spoiler"),
    ("__", "Underline"),
    ("_", "Italic"),
    ("*", "Bold"),
    ("~", "Strikethrough"),
)


class BadMarkup(ValueError):
    """The markup cannot be read; the text is what Telegram says."""


def escape_markdown(text: str) -> str:
    """Write plain text in MarkdownV2."""
    return re.sub(rf"([\\{re.escape(_RESERVED)}])", r"\\\1", text)


def escape_html(text: str) -> str:
    """Write plain text in HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def parse(text: str, mode: str | None) -> str:
    """Return what people will see."""
    if mode is None:
        return text
    if mode.lower() == HTML.lower():
        return _html(text)
    if mode.lower() == MARKDOWN.lower():
        return _Markdown(text).read()
    raise BadMarkup("unsupported parse_mode")


def _html(text: str) -> str:
    seen, at, opened = "", 0, list[tuple[str, int]]()
    for found in re.finditer("<", text):
        if found.start() < at:
            continue
        offset = _offset(text, found.start())
        seen += _plain(text[at : found.start()])
        tag = _TAG.match(text, found.start())
        if tag is None:
            raise BadMarkup(f"can't parse entities: Unclosed start tag at byte offset {offset}")
        closing, name = tag[1], tag[2].lower()
        if closing:
            _close(opened, name, offset)
        elif name not in TAGS:
            message = f'Unsupported start tag "{name}" at byte offset {offset}'
            raise BadMarkup(f"can't parse entities: {message}")
        else:
            opened.append((name, offset))
        at = tag.end()
    if opened:
        name, offset = opened[-1]
        message = f'Can\'t find end tag corresponding to start tag "{name}"'
        raise BadMarkup(f"can't parse entities: {message}")
    return seen + _plain(text[at:])


def _close(opened: list[tuple[str, int]], name: str, offset: int) -> None:
    if not opened:
        raise BadMarkup(f"can't parse entities: Unexpected end tag at byte offset {offset}")
    expected, _ = opened.pop()
    if expected != name:
        message = f'Unmatched end tag at byte offset {offset}, expected "</{expected}>", found "</{name}>"'
        raise BadMarkup(f"can't parse entities: {message}")


def _plain(text: str) -> str:
    # Only four names are known; any other "&" stands for itself.
    return _ENTITY.sub(lambda entity: unescape(entity[0]), text)


def _offset(text: str, at: int) -> int:
    return len(text[:at].encode())


class _Markdown:
    """Reads MarkdownV2 from left to right, with the marks that are open on a stack."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.seen: list[str] = []
        self.opened: list[tuple[str, str, int]] = []  # mark, name, offset

    def read(self) -> str:
        while self.at < len(self.text):
            self._step()
        if self.opened:
            _, name, offset = self.opened[-1]
            raise BadMarkup(_no_end(name, offset))
        return "".join(self.seen)

    def _step(self) -> None:
        here = self.text[self.at]
        if here == "\\" and self.text[self.at + 1 : self.at + 2]:
            self._take(self.text[self.at + 1], 2)
        elif here == "`":
            self._code()
        elif here == "[" or self.text.startswith("![", self.at):
            self._open("[", "TextUrl", 1 if here == "[" else 2)
        elif here == "]" and self._is_open("["):
            self._link()
        elif here == ">" and (self.at == 0 or self.text[self.at - 1] == "\n"):
            self._take("", 1)
        elif not self._mark():
            if here in _RESERVED:
                message = (
                    f"Character '{here}' is reserved and must be escaped with the preceding '\\'"
                )
                raise BadMarkup(f"can't parse entities: {message}")
            self._take(here, 1)

    def _mark(self) -> bool:
        for mark, name in _MARKS:
            if self.text.startswith(mark, self.at):
                if self._is_open(mark):
                    self.opened.pop()
                    self.at += len(mark)
                else:
                    self._open(mark, name, len(mark))
                return True
        return False

    def _code(self) -> None:
        fence = "```" if self.text.startswith("```", self.at) else "`"
        start = self.at + len(fence)
        inner = re.compile(rf"(?:\\.|(?!{fence})[^\\])*", re.DOTALL).match(self.text, start)
        end = inner.end() if inner else start
        if not self.text.startswith(fence, end):
            name = "Pre" if len(fence) == 3 else "Code"
            raise BadMarkup(_no_end(name, _offset(self.text, self.at)))
        self.seen.append(re.sub(r"\\(.)", r"\1", self.text[start:end], flags=re.DOTALL))
        self.at = end + len(fence)

    def _link(self) -> None:
        _, name, offset = self.opened.pop()
        target = re.compile(r"\]\((?:\\.|[^)\\])*\)", re.DOTALL).match(self.text, self.at)
        if target is None:
            raise BadMarkup(_no_end(name, offset))
        self.at = target.end()

    def _is_open(self, mark: str) -> bool:
        return bool(self.opened) and self.opened[-1][0] == mark

    def _open(self, mark: str, name: str, length: int) -> None:
        self.opened.append((mark, name, _offset(self.text, self.at)))
        self.at += length

    def _take(self, seen: str, length: int) -> None:
        self.seen.append(seen)
        self.at += length


def _no_end(name: str, offset: int) -> str:
    return f"can't parse entities: Can't find end of {name} entity at byte offset {offset}"
