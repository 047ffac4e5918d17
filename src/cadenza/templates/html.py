"""HTML for mails: from Markdown, or pasted; cleaned, styles written into the tags, plain text made from it.

Variables are taken out before anything reads the text and put back afterwards, so neither Markdown nor the cleaner
sees or changes them, and it is known where in the HTML each stands. What is taken out is listed, never dropped
silently. Limit: `<style>` rules for media queries and pseudo-classes do not survive, as many mail programs drop them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from html.parser import HTMLParser
from typing import TypeAlias

import css_inline
import nh3
from markdown_it import MarkdownIt

from cadenza.templates.escape import Place
from cadenza.templates.language import (
    Else,
    EndIf,
    If,
    TemplateFault,
    Token,
    Variable,
    check_nesting,
)

_BOX = "align|bgcolor|border|cellpadding|cellspacing|height|valign|width"
_TAGS = (
    "a abbr b blockquote br center code del div em font h1 h2 h3 h4 h5 h6 hr i img ins li ol p pre s small span "
    "strike strong sub sup table tbody td tfoot th thead tr u ul"
)
TAGS = frozenset(_TAGS.split())
ATTRIBUTES: dict[str, set[str]] = {
    "*": {"style", "title", "dir", "lang", "align"},
    "a": {"href"},
    "font": {"color", "size", "face"},
    "img": {"src", "alt", "width", "height", "border"},
    "ol": {"start"},
    **{
        tag: {*_BOX.split("|"), "colspan", "rowspan"}
        for tag in ("table", "td", "th", "tr", "tbody")
    },
}
SCHEMES = {"http", "https", "mailto", "tel"}
_STYLES = (
    "background-color border border-bottom border-collapse border-color border-left border-radius border-right "
    "border-spacing border-style border-top border-width color direction display font font-family font-size "
    "font-style font-weight height letter-spacing line-height list-style-type margin margin-bottom margin-left "
    "margin-right margin-top max-width min-width padding padding-bottom padding-left padding-right padding-top "
    "text-align text-decoration text-transform vertical-align white-space width word-break"
)
STYLES = set(_STYLES.split())
_UNTOLD = {
    "html",
    "head",
    "body",
    "style",
    "meta",
    "title",
}  # a pasted document has them; nobody misses them
_FOR_STYLES = {"class", "id"}  # needed by `<style>`, gone once it is written into the tags
_LINKS = {"href", "src"}
_VOID = {"br", "hr", "img"}
_TAG = re.compile(r'<(/?)([a-zA-Z][\w:-]*)((?:\s[^\s=>"]+(?:="[^"]*")?)*)\s*/?>')
_ATTRIBUTE = re.compile(r'(\s[^\s=>"]+)(?:="([^"]*)")?')
_SCHEME = re.compile(r"\s*([a-zA-Z][a-zA-Z0-9+.-]*):")


@dataclass(frozen=True, slots=True)
class Placed:
    """A variable, and where it stands."""

    variable: Variable
    place: Place


HtmlToken: TypeAlias = str | Placed | If | Else | EndIf


@dataclass(frozen=True, slots=True)
class MadeHtml:
    """HTML and the plain text of it, and what was taken out."""

    html: list[HtmlToken]
    text: list[HtmlToken]
    removed: tuple[str, ...]


def from_markdown(tokens: Sequence[Token]) -> MadeHtml:
    """Make HTML from Markdown; HTML within it is shown as text."""
    marks = Marks.of(tokens)
    reader = MarkdownIt("commonmark", {"html": False, "breaks": True})
    html = reader.enable(["table", "strikethrough"]).render(marks.text)
    return _made(marks, _clean(html), ())


def from_html(tokens: Sequence[Token], css: str = "") -> MadeHtml:
    """Clean pasted HTML, with the rules of its `<style>` and of `css` written into the tags."""
    marks = Marks.of(tokens)
    seen = _Inspector()
    seen.feed(marks.text)
    seen.close()
    rules = "\n".join([*seen.styles, css])
    if marks.name in rules:
        raise TemplateFault(
            "a variable cannot stand in a style sheet: choose the style in the text"
        )
    html = _clean(marks.text, keep=_FOR_STYLES)
    if rules.strip():
        html = _with_styles(html, rules)
    return _made(marks, _clean(html), tuple(dict.fromkeys(seen.removed)))


def _with_styles(html: str, rules: str) -> str:
    try:
        return css_inline.inline_fragment(
            html, rules, load_remote_stylesheets=False, keep_style_tags=False
        )
    except (css_inline.InlineError, ValueError) as error:
        raise TemplateFault(f"the styles cannot be read: {error}") from error


def _clean(html: str, keep: set[str] = frozenset()) -> str:  # pyright: ignore[reportArgumentType]
    attributes = {**ATTRIBUTES, "*": ATTRIBUTES["*"] | keep}
    return nh3.clean(
        html,
        tags=set(TAGS),
        attributes=attributes,
        url_schemes=SCHEMES,
        filter_style_properties=STYLES,
        link_rel=None,
    )


def _made(marks: "Marks", html: str, removed: tuple[str, ...]) -> MadeHtml:
    html = marks.lift_conditions(html).strip()
    tokens = list(_read_places(marks, html))
    marks.check_all_there(tokens)
    check_nesting([each.variable if isinstance(each, Placed) else each for each in tokens])
    writer = _TextWriter(marks)
    writer.feed(html)
    writer.close()
    return MadeHtml(tokens, list(marks.split(writer.text())), removed)


@dataclass(frozen=True, slots=True)
class Marks:
    """The text with a plain word in the place of each variable and condition.

    A word is the name, the number of its tag and a letter for where it stands: `t` text, `l` link, `p` part of one.
    """

    name: str
    tags: tuple[Variable | If | Else | EndIf, ...]
    text: str
    word: re.Pattern[str]

    @classmethod
    def of(cls, tokens: Sequence[Token]) -> "Marks":
        """Put a word in for each tag; the words occur nowhere else in the text."""
        name = "cdztag"
        while any(isinstance(each, str) and name in each.lower() for each in tokens):
            name += "q"
        tags = tuple(each for each in tokens if not isinstance(each, str))
        numbers = iter(range(len(tags)))
        text = "".join(
            each if isinstance(each, str) else f"{name}{next(numbers)}t" for each in tokens
        )
        return cls(name, tags, text, re.compile(rf"{name}(\d+)([tlp])"))

    def split(self, text: str, place: Place = Place.TEXT) -> Iterator[HtmlToken]:
        """Put the tags back."""
        at = 0
        for found in self.word.finditer(text):
            if found.start() > at:
                yield text[at : found.start()]
            tag = self.tags[int(found[1])]
            if isinstance(tag, Variable):
                special = {"l": Place.LINK, "p": Place.LINK_PART}
                yield Placed(tag, special.get(found[2], place))
            else:
                yield tag
            at = found.end()
        if at < len(text):
            yield text[at:]

    def is_condition(self, found: re.Match[str]) -> bool:
        """Say whether a word stands for a condition."""
        return not isinstance(self.tags[int(found[1])], Variable)

    def lift_conditions(self, html: str) -> str:
        """Take the paragraph away around a condition that stands alone in it."""
        alone = re.compile(rf"<p>\s*((?:{self.word.pattern}\s*)+)</p>\n?")

        def lift(found: re.Match[str]) -> str:
            bare = all(self.is_condition(each) for each in self.word.finditer(found[1]))
            return found[1].strip() if bare else found[0]

        return alone.sub(lift, html)

    def check_all_there(self, tokens: Sequence[HtmlToken]) -> None:
        """Refuse a variable that stood where HTML has no text: it went with what was taken out."""
        there = [each.variable if isinstance(each, Placed) else each for each in tokens]
        lost = [each for each in self.tags if each not in there]
        if lost:
            said = (
                f"{{{{{lost[0].name}}}}}" if isinstance(lost[0], Variable | If) else "a condition"
            )
            raise TemplateFault(
                f"{said} stands where HTML takes no text, such as in a tag's name: move it between the tags"
            )


def _read_places(marks: Marks, html: str) -> Iterator[HtmlToken]:
    """Read cleaned HTML and say of each variable where it stands; conditions hold whole elements."""
    opened: list[str] = []
    frames: list[int] = []  # how many elements were open where each condition began
    at = 0

    def words(text: str) -> Iterator[HtmlToken]:
        for token in marks.split(text, Place.HTML):
            if isinstance(token, If):
                frames.append(len(opened))
            elif isinstance(token, Else | EndIf):
                if not frames or frames[-1] != len(opened):
                    raise TemplateFault(_UNBALANCED)
                if isinstance(token, EndIf):
                    frames.pop()
            yield token

    for tag in _TAG.finditer(html):
        yield from words(html[at : tag.start()])
        ends, name = tag[1], tag[2].lower()
        if ends:
            if frames and len(opened) <= frames[-1]:
                raise TemplateFault(_UNBALANCED)
            if opened:
                opened.pop()
        elif name not in _VOID:
            opened.append(name)
        yield from _read_tag(marks, tag[0])
        at = tag.end()
    yield from words(html[at:])


_UNBALANCED = (
    "a condition begins in one HTML element and ends in another: let {{#if}} and {{/if}} stand around whole "
    "paragraphs, or both within one"
)


def _read_tag(marks: Marks, tag: str) -> Iterator[HtmlToken]:
    if marks.name not in tag:
        yield tag
        return
    at = 0
    for attribute in _ATTRIBUTE.finditer(tag):
        name, value = attribute[1].strip().lower(), attribute[2] or ""
        if marks.name not in value:
            continue
        if name == "style":
            raise TemplateFault("a variable cannot stand in a style: choose the style in the text")
        yield tag[at : attribute.start(2)]
        for number, token in enumerate(marks.split(value, Place.ATTRIBUTE)):
            if isinstance(token, If | Else | EndIf):
                raise TemplateFault("a condition cannot stand within a tag: put it around the tag")
            if isinstance(token, Placed) and name in _LINKS:
                place = Place.HTML_LINK if number == 0 else Place.HTML_LINK_PART
                yield Placed(token.variable, place)
            else:
                yield token
        at = attribute.end(2)
    yield tag[at:]


class _Inspector(HTMLParser):
    """Collects the style sheets of pasted HTML, and names what the cleaner will take out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.styles: list[str] = []
        self.removed: list[str] = []
        self._styling = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "style":
            self._styling = True
        elif tag not in TAGS and tag not in _UNTOLD:
            self.removed.append(f"<{tag[:40]}>")
        if tag not in TAGS:
            return
        allowed = ATTRIBUTES["*"] | ATTRIBUTES.get(tag, set()) | _FOR_STYLES
        for name, value in attrs:
            if name not in allowed:
                self.removed.append(f"{name[:40]} of <{tag}>")
            elif (
                name in _LINKS
                and (found := _SCHEME.match(unescape(value or "")))
                and found[1].lower() not in SCHEMES
            ):
                self.removed.append(f"a {found[1].lower()[:20]}: link")

    def handle_endtag(self, tag: str) -> None:
        self._styling = self._styling and tag != "style"

    def handle_data(self, data: str) -> None:
        if self._styling:
            self.styles.append(data)


_BLOCKS = {
    "p",
    "div",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "table",
    "blockquote",
    "pre",
    "center",
}


class _TextWriter(HTMLParser):
    """Writes the plain text of cleaned HTML: paragraphs, lists, links with their addresses."""

    def __init__(self, marks: Marks) -> None:
        super().__init__(convert_charrefs=True)
        self._marks = marks
        self._out: list[str] = []
        self._lists: list[int | None] = []
        self._link: tuple[str, int] | None = None
        self._pre = 0

    def text(self) -> str:
        """Return what was written, with at most one blank line between paragraphs."""
        lines = "".join(self._out).split("\n")
        said = "\n".join(line.rstrip() for line in lines)
        return re.sub(r"\n{3,}", "\n\n", said).strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if tag in _BLOCKS:
            self._break(2 if not (tag in ("ul", "ol") and self._lists) else 1)
        match tag:
            case "br":
                self._out.append("\n")
            case "hr":
                self._break(2)
                self._out.append("---\n\n")
            case "pre":
                self._pre += 1
            case "ul":
                self._lists.append(None)
            case "ol":
                self._lists.append(int(start) if (start := said.get("start", "1")).isdigit() else 1)
            case "li":
                self._item()
            case "tr":
                self._break(1)
            case "td" | "th":
                if self._out and self._out[-1] == " ":
                    self._out.pop()
                if self._out and not self._out[-1].endswith("\n"):
                    self._out.append("  ")
            case "img":
                self._out.append(said.get("alt", ""))
            case "a" if said.get("href"):
                self._link = (said["href"], len(self._out))
            case _:
                pass

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._link is not None:
            href, start = self._link
            self._link = None
            shown = "".join(self._out[start:]).strip()
            if href.removeprefix("mailto:") != shown:
                self._out.append(f" ({self._address(href)})" if shown else self._address(href))
        elif tag in ("ul", "ol") and self._lists:
            self._lists.pop()
            self._break(1 if self._lists else 2)
        elif tag == "pre":
            self._pre -= 1
        if tag in _BLOCKS and tag not in ("ul", "ol"):
            self._break(2 if not self._lists else 1)

    def handle_data(self, data: str) -> None:
        if self._pre:
            self._out.append(data)
            return
        said = re.sub(r"[ \t\r\n\f]+", " ", data)
        if not self._out or self._out[-1].endswith("\n"):
            said = said.lstrip()
        if said:
            self._out.append(said)

    def _item(self) -> None:
        self._break(1)
        indent = "  " * (len(self._lists) - 1)
        number = self._lists[-1] if self._lists else None
        if self._lists and number is not None:
            self._lists[-1] = number + 1
        self._out.append(f"{indent}- " if number is None else f"{indent}{number}. ")

    def _break(self, lines: int) -> None:
        """Begin a new line, or after a blank one."""
        if not self._out:
            return
        end = "".join(self._out[-3:])
        if self._lists and re.search(r"(?:- |\d+\. )$", end):
            return  # the first paragraph of an item stands beside its mark
        there = len(end) - len(end.rstrip("\n"))
        if lines > there:
            self._out.append("\n" * (lines - there))

    def _address(self, href: str) -> str:
        """Mark the variables of an address as such: they are written as its parts."""
        first = True

        def mark(found: re.Match[str]) -> str:
            nonlocal first
            letter = "l" if first and found.start() == 0 else "p"
            first = False
            return f"{self._marks.name}{found[1]}{letter}"

        return self._marks.word.sub(mark, href)
