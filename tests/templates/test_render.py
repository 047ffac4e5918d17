"""Rendering: every filter, every way of missing, and that no value ever leaves its place."""

import re
from datetime import UTC, date, datetime
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.channels import Channel
from cadenza.deliveries.render import render as render_delivery
from cadenza.providers.telegram.markup import parse
from cadenza.templates.check import Example
from cadenza.templates.compile import compile_content
from cadenza.templates.language import TemplateFault
from cadenza.templates.model import BodyFormat, TemplateContent, TemplateVariant
from cadenza.templates.render import Incomplete, RenderedMessage, renderer_of
from tests.templates.conftest import Fill, render_content

MARKDOWN, HTML = BodyFormat.MARKDOWN, BodyFormat.HTML


@pytest.mark.parametrize(
    ("source", "value", "said"),
    [
        ("{{x}}", "Ben", "Ben"),
        ("{{ x }}", 7, "7"),
        ("{{x}}", 2.0, "2"),
        ("{{x}}", 2.5, "2.5"),
        ("{{x}}", True, "true"),
        ("{{x}}", date(2026, 11, 18), "2026-11-18"),
        ("{{x}}", datetime(2026, 11, 18, 9, 30, tzinfo=UTC), "2026-11-18 09:30"),
        ('{{x | default: "there"}}', "Ben", "Ben"),
        ('{{x | default: "there"}}', None, "there"),
        ('{{x | default: "there"}}', " \t", "there"),
        ('{{x | default: "there" | upper}}', "", "THERE"),
        ("{{x | upper}}", "straße", "STRASSE"),
        ("{{x | lower}}", "BEN", "ben"),
        ("{{x | capitalize}}", "ben baker", "Ben baker"),
        ("{{x | title}}", "ben o'neil's van", "Ben O'neil's Van"),
        ("{{x | trim}}", "  Ben ", "Ben"),
        ("{{x | truncate: 5}}", "Benjamin", "Benj…"),
        ("{{x | truncate: 8}}", "Benjamin", "Benjamin"),
        ('{{x | truncate: 6, "..."}}', "Benjamin", "Ben..."),
        (
            '{{x | date: "%e %B %Y, %A %H:%M %p"}}',
            "2026-11-08T15:04",
            "8 November 2026, Sunday 15:04 PM",
        ),
        ('{{x | date: "%d.%m.%y %b %a %I %%"}}', date(2026, 1, 5), "05.01.26 Jan Mon 12 %"),
        ("{{x | date}}", "2026-11-18", "2026-11-18"),
        ("{{x | number}}", "1234.6", "1,235"),
        ("{{x | number: 2}}", 1234.5, "1,234.50"),
        ('{{x | number: 2, ".", ","}}', "1234567.891", "1.234.567,89"),
        ('{{x | number: 0, ""}}', 1234567, "1234567"),
        ("{{x | urlencode}}", "a&b c/d", "a%26b%20c%2Fd"),
        ("{{#if x}}yes{{else}}no{{/if}}", "a", "yes"),
        ("{{#if x}}yes{{else}}no{{/if}}", "", "no"),
        ("{{#if x}}yes{{else}}no{{/if}}", False, "no"),
        ("{{#if x}}yes{{else}}no{{/if}}", 0, "yes"),
        ("100 % {{x}} %s %(y)s", "of", "100 % of %s %(y)s"),
        ("a\n{{#if x}}\nb\n{{/if}}\nc", "1", "a\nb\nc"),
        ("a\n{{#if x}}\nb\n{{/if}}\nc", None, "a\nc"),
        ("{{#if x}}a{{#if y}}b{{/if}}c{{/if}}!", "1", "ac!"),
    ],
)
def test_filters_and_conditions(fill: Fill, source: str, value: Any, said: str) -> None:
    assert fill(TemplateContent(body=source), x=value).text == said


@pytest.mark.parametrize("value", [None, "", "  ", "\n\t", "\u200b", "\x00", "\u00a0 "])
@pytest.mark.parametrize(
    "source", ["{{x}}", "{{x | upper}}", "a {{x | trim}} b", "{{#if y}}{{else}}{{x}}{{/if}}"]
)
def test_a_missing_value_is_never_blank(source: str, value: str | None) -> None:
    made = render_content(TemplateContent(body=source), Channel.EMAIL, {"x": value})
    assert isinstance(made, Incomplete)
    assert made.missing == ("x",)


def test_what_a_condition_leaves_out_need_not_be_there() -> None:
    content = TemplateContent(body="Hi{{#if x}} {{x}} of {{y}}{{/if}}")
    assert isinstance(render_content(content, Channel.EMAIL, {}), RenderedMessage)
    made = render_content(content, Channel.EMAIL, {"x": "Ben"})
    assert made == Incomplete(missing=("y",))


@pytest.mark.parametrize(
    ("source", "value", "why"),
    [
        ("{{x | date}}", "tomorrow", "not a date"),
        ("{{x | number}}", "many", "not a number"),
        ("{{x | number}}", "nan", "not a number"),
        ("{{x | number: 2}}", "1e400000000", "not a number"),
        ("{{x}}", ["a"], "neither a text"),
        ("{{x}}", {"a": 1}, "neither a text"),
        ("{{x}}", object, "neither a text"),
        ("{{x}}", "a" * 20_001, "longer"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(source: str, value: Any, why: str) -> None:
    made = render_content(TemplateContent(body=source), Channel.EMAIL, {"x": value})
    assert isinstance(made, Incomplete)
    assert why in made.unfit["x"]


def test_variables_are_found_without_rendering() -> None:
    content = TemplateContent(
        subject="{{a}}",
        body="{{#if b}}{{b}} {{c}}{{/if}} {{d | default: 'x'}}",
        variants={Channel.SLACK: TemplateVariant(text="{{e}}")},
    )
    found = {each.name: each.required for each in compile_content(content).variables}
    assert found == {"a": True, "b": False, "c": True, "d": False, "e": True}


HOSTILE = [
    "{{7*7}}",
    "{{y}}",
    "{{#if y}}",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><script>alert(1)</script>',
    "' onmouseover='alert(1)",
    "Ben\r\nBcc: everybody@example.org",
    "Ben\nSubject: other",
    "**bold** [link](https://evil.example)",
    "%s %(x)s {0} {x.__class__}",
    "&lt;b&gt; &amp;",
    "</body></html>",
    "=?utf-8?q?=0d=0aBcc:?=",
]


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("format_", list(BodyFormat))
def test_a_hostile_value_stays_a_value(fill: Fill, value: str, format_: BodyFormat) -> None:
    content = TemplateContent(subject="Hi {{x}}", body="Hi {{x}}, bye", format=format_)
    made = fill(content, x=value)
    shown = value.replace("\r\n", "\n")
    assert made.text == f"Hi {shown}, bye"
    one_line = re.sub(r"[\r\n]+", " ", value)
    assert made.subject == f"Hi {one_line}"
    if made.html is not None:
        assert _text_of(made.html).strip() == f"Hi {shown}, bye"
        assert _tags_of(made.html) <= {"html", "head", "meta", "body", "p", "br"}


TEXT = st.text(max_size=60).filter(lambda text: not text.isspace() and text != "")
PLACES = TemplateContent(
    subject="A {{x}} z",
    format=HTML,
    body='<p title="{{x}}">A {{x}} z</p><a href="https://a.example/{{x}}?q={{x}}">go</a><img alt="{{x}}" src="https://a.example/i.png">',
)
PLAIN = compile_content(PLACES)
COMPILED = msgspec.json.encode(PLAIN.compiled).decode()


@given(TEXT)
def test_no_value_leaves_its_place(value: str) -> None:
    made = renderer_of(COMPILED, Channel.EMAIL).render({"x": value})
    if isinstance(made, Incomplete):
        assert made.missing == ("x",)
        return
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", made.subject)
    assert made.html is not None
    tags = _Tags()
    tags.feed(made.html)
    tags.close()
    names = [name for name, _ in tags.found if name != "br"]
    assert names == ["html", "head", "meta", "meta", "body", "p", "a", "img"]
    attributes = {name: {key for key, _ in given} for name, given in tags.found}
    assert attributes["p"] == {"title"}
    assert attributes["a"] == {"href"}
    assert attributes["img"] == {"alt", "src"}
    href = dict(next(given for name, given in tags.found if name == "a"))["href"]
    assert href is not None
    assert href.startswith("https://a.example/")
    assert not re.search(r"[\s<>\"']", href)


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.none() | TEXT | st.integers()))
def test_a_message_is_whole_or_not_made(values: dict[str, Any]) -> None:
    content = TemplateContent(subject="{{a}}", body='{{b | default: "x"}} {{#if c}}{{c}}{{/if}}')
    made = render_content(content, Channel.EMAIL, values)
    if isinstance(made, RenderedMessage):
        assert made.subject
        assert "{{" not in made.text or any("{{" in str(v) for v in values.values())


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " javascript:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "//evil.example",
        "/relative",
        "https://user@evil.example",
        "https:// evil.example",
        "file:///etc/passwd",
    ],
)
@pytest.mark.parametrize("body", ['<a href="{{x}}">go</a>', '<img src="{{x}}">'])
def test_a_whole_link_is_a_web_address(body: str, link: str) -> None:
    made = render_content(TemplateContent(body=body + "a", format=HTML), Channel.EMAIL, {"x": link})
    assert isinstance(made, Incomplete)
    assert "link" in made.unfit["x"]


def test_a_good_link_is_kept(fill: Fill) -> None:
    content = TemplateContent(body="[go]({{x}}) <https://a.example/{{y}}>", format=MARKDOWN)
    made = fill(content, x='https://b.example/a?b=c&d="e', y="a b/c")
    assert made.html is not None
    assert 'href="https://b.example/a?b=c&amp;d=%22e"' in made.html
    assert 'href="https://a.example/a%20b%2Fc"' in made.html
    assert made.text.startswith("go (https://b.example/a?b=c&d=%22e)")


@pytest.mark.parametrize(
    "body",
    [
        '<p style="color: {{x}}">a</p>',
        "<style>p { color: {{x}} }</style><p>a</p>",
        "<{{x}}>a",
        "<p {{x}}>a</p>",
        '<a href="{{x}}:alert(1)">a</a>',
        "<p>{{#if x}}a</p>{{/if}}",
        "{{#if x}}<p>a{{/if}}</p>",
        '<p title="{{#if x}}a{{/if}}">b</p>',
        "<script>{{x}}</script>",
        "<!-- {{x}} -->a",
    ],
)
def test_a_variable_stands_where_text_stands(body: str) -> None:
    content = TemplateContent(body=body, format=HTML)
    try:
        made = render_content(content, Channel.EMAIL, {"x": "javascript"})
    except TemplateFault:
        return
    assert isinstance(made, RenderedMessage)
    assert made.html is not None
    assert "&lt;javascript&gt;" in made.html


def test_pasted_html_is_cleaned_and_says_what_went(fill: Fill) -> None:
    content = TemplateContent(
        format=HTML,
        body=(
            "<html><head><style>.a { color: red; position: fixed } @import url(https://evil.example/x.css);"
            "</style><link rel=stylesheet href='file:///etc/passwd'></head><body onload='x()'>"
            "<p class=a onclick='x()'>Hello</p><script>alert(1)</script><iframe src='https://a.example'></iframe>"
            "<a href='javascript:x()'>go</a><form action=x><input></form></body></html>"
        ),
    )
    made = fill(content)
    assert made.html is not None
    assert '<p style="color:red">Hello</p>' in made.html
    for gone in (
        "script",
        "iframe",
        "onclick",
        "onload",
        "javascript",
        "form",
        "fixed",
        "evil",
        "passwd",
    ):
        assert gone not in made.html
    removed = compile_content(content).removed
    assert {"<script>", "<iframe>", "onclick of <p>", "a javascript: link", "<form>"} <= set(
        removed
    )


def test_the_plain_text_of_html_reads_well(fill: Fill) -> None:
    body = (
        "# Hello {{x}}\n\nOne *two* [three](https://a.example).\n\n1. a\n2. b\n   - c\n\n> said\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n![alt](https://a.example/i.png)\n\n---\n\nBye\nBen"
    )
    made = fill(TemplateContent(body=body, format=MARKDOWN), x="Ada")
    assert made.text == (
        "Hello Ada\n\nOne two three (https://a.example).\n\n1. a\n2. b\n  - c\n\nsaid\n\n"
        "a  b\n1  2\n\nalt\n\n---\n\nBye\nBen"
    )


def test_markdown_conditions_hold_whole_paragraphs(fill: Fill) -> None:
    content = TemplateContent(
        format=MARKDOWN, body="a\n\n{{#if x}}\n\nb {{x}}\n\n{{else}}\n\nc\n\n{{/if}}\n\nd"
    )
    made, other = fill(content, x="1"), fill(content)
    assert made.html is not None
    assert other.html is not None
    assert (made.text, other.text) == ("a\n\nb 1\n\nd", "a\n\nc\n\nd")
    assert re.findall(r"<p>(.*?)</p>", made.html) == ["a", "b 1", "d"]
    assert re.findall(r"<p>(.*?)</p>", other.html) == ["a", "c", "d"]


def test_channels_get_their_own_words(fill: Fill) -> None:
    content = TemplateContent(
        subject="S {{x}}",
        body="**{{x}}**",
        format=MARKDOWN,
        variants={
            Channel.SLACK: TemplateVariant(text="slack {{x}}"),
            Channel.TELEGRAM: TemplateVariant(text="<b>{{x}}</b>", options={"parse_mode": "HTML"}),
            Channel.EMAIL: TemplateVariant(subject="M {{x}}", text="own text"),
        },
    )
    value = "<a & b>"
    assert fill(content, Channel.SLACK, x=value).text == "slack <a & b>"
    assert fill(content, Channel.DISCORD, x=value).text == value
    telegram = fill(content, Channel.TELEGRAM, x=value)
    assert telegram.text == "<b>&lt;a &amp; b&gt;</b>"
    assert telegram.options == {"parse_mode": "HTML"}
    mail = fill(content, x=value)
    assert (mail.subject, mail.text) == ("M <a & b>", "own text")
    assert mail.html is not None
    assert "<strong>&lt;a &amp; b&gt;</strong>" in mail.html


@given(TEXT)
def test_telegram_shows_a_value_as_it_is(value: str) -> None:
    for mode, text in (("HTML", "<b>{{x}}</b>"), ("MarkdownV2", "*{{x}}*")):
        variant = TemplateVariant(text=text, options={"parse_mode": mode})
        content = TemplateContent(body="a", variants={Channel.TELEGRAM: variant})
        made = render_content(content, Channel.TELEGRAM, {"x": value})
        if isinstance(made, RenderedMessage):
            plain = render_content(TemplateContent(body="{{x}}"), Channel.TELEGRAM, {"x": value})
            assert isinstance(plain, RenderedMessage)
            assert parse(made.text, mode) == plain.text


@pytest.mark.parametrize(
    "channel",
    [
        Channel.EMAIL,
        Channel.TELEGRAM,
        Channel.SLACK,
        Channel.DISCORD,
        Channel.WEBHOOK,
        Channel.LINKEDIN_MESSAGE,
    ],
)
def test_the_pipeline_reads_what_was_rendered(fill: Fill, channel: Channel) -> None:
    made = fill(
        TemplateContent(subject="S", body="*Hi* {{x}}", format=MARKDOWN), channel, x="<Ben>"
    )
    content = made.content(recipient_name="Ben", unsubscribe_url="https://a.example/u")
    message = render_delivery(Example(channel, content), _NoFiles())
    assert (message.text, message.subject, message.html) == (made.text, "S", made.html)
    assert message.recipient is not None
    assert message.recipient.name == "Ben"
    assert (message.html is not None) == (channel is Channel.EMAIL)


def test_compiled_versions_are_kept_and_bounded() -> None:
    compiled = msgspec.json.encode(
        compile_content(TemplateContent(body="a {{x}}")).compiled
    ).decode()
    assert renderer_of(compiled, Channel.EMAIL) is renderer_of(compiled, Channel.EMAIL)
    assert renderer_of.cache_info().maxsize == 256


class _NoFiles:
    async def read(self, name: str) -> bytes:
        raise FileNotFoundError(name)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))
        if tag == "br":
            self.words.append("\n")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def _text_of(html: str) -> str:
    reader = _Tags()
    reader.feed(html)
    reader.close()
    return "".join(reader.words)


def _tags_of(html: str) -> set[str]:
    reader = _Tags()
    reader.feed(html)
    return {tag for tag, _ in reader.found}
