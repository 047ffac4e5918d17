"""The template language: what it takes, and that nothing else gets through."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.templates.filters import FILTERS
from cadenza.templates.language import If, TemplateFault, Variable, tokenize

REFUSED = [
    "{{7*7}}",
    "{{ 7 * 7 }}",
    "{{a.b}}",
    "{{a['b']}}",
    "{{a[0]}}",
    "{{__class__}}",
    "{{''.__class__.__mro__}}",
    "{{ self._TemplateReference__context }}",
    "{{config}} {{config.items()}}",
    "{{ x() }}",
    "{{x|attr: '__class__'}}",
    "{{x | map}}",
    "{{{x}}}",
    "{{&x}}",
    "{{> partial}}",
    "{{#each items}}{{/each}}",
    "{{#unless x}}{{/unless}}",
    "{{^x}}{{/x}}",
    "{{= <% %> =}}",
    "{{! a comment }}",
    "{{#if x == 1}}a{{/if}}",
    "{{#if}}a{{/if}}",
    "{{#if x}}a",
    "a{{/if}}",
    "a{{else}}b",
    "{{#if x}}a{{else}}b{{else}}c{{/if}}",
    "{{x",
    "{{",
    "{{}}",
    "{{ }}",
    "{{x}",
    "{{ {{x}} }}",
    "{{x | }}",
    "{{x | default}}",
    "{{x | default: }}",
    "{{x | default: there}}",
    '{{x | default: ""}}',
    '{{x | default: " "}}',
    '{{x | upper | default: "y"}}',
    "{{x | truncate}}",
    "{{x | truncate: 0}}",
    '{{x | truncate: "a"}}',
    "{{x | number: 99}}",
    '{{x | number: 2, "ab"}}',
    '{{x | date: "%Q"}}',
    '{{x | date: "%"}}',
    "{{x | upper: 1}}",
    "{{1x}}",
    "{{_x}}",
    "{{x-y}}",
    "{{x y}}",
    "{{#if a}}" * 6 + "{{/if}}" * 6,
    "{{" + "x" * 65 + "}}",
]


@pytest.mark.parametrize("source", REFUSED)
def test_what_is_not_the_language_is_refused(source: str) -> None:
    with pytest.raises(TemplateFault) as refused:
        tokenize(source)
    assert len(refused.value.message) > 10


@pytest.mark.parametrize(
    "source",
    ["{% for x in y %}", "${7*7}", "#{7*7}", "<%= 7 %>", "{x}", "}}", "{a|b|c}", "%s %(x)s", "{0}"],
)
def test_other_languages_are_plain_text(source: str) -> None:
    assert tokenize(source) == [source]


def test_a_fault_says_where_it_stands() -> None:
    with pytest.raises(TemplateFault) as refused:
        tokenize("Hello\nBen, {{7*7}}")
    assert (refused.value.line, refused.value.column) == (2, 6)


def test_an_unknown_filter_is_answered_with_a_guess() -> None:
    with pytest.raises(TemplateFault, match=r"uper.*upper"):
        tokenize("{{name | uper}}")


def test_quotes_of_editors_are_quotes() -> None:
    assert tokenize("{{name | default: “there”}}") == tokenize('{{name | default: "there"}}')


def test_a_default_may_hold_bars_and_commas_and_braces() -> None:
    (found,) = tokenize('{{name | default: "a | b, {c}}"}}')
    assert isinstance(found, Variable)
    assert found.filters[0].arguments == ("a | b, {c}}",)


def test_names_may_be_in_any_script() -> None:
    assert tokenize("{{#if straße}}{{straße}}{{/if}}")[:2] == [If("straße"), Variable("straße")]


@given(st.text())
def test_any_text_is_read_or_refused(source: str) -> None:
    try:
        found = tokenize(source)
    except TemplateFault:
        return
    assert "{{" in source or found == ([source] if source else [])


@given(st.text(alphabet="{}#/if|:\"' xel%."))
def test_braces_in_any_order_are_read_or_refused(source: str) -> None:
    with suppress(TemplateFault):
        tokenize(source)


def test_a_long_text_of_open_braces_is_refused_at_once() -> None:
    with pytest.raises(TemplateFault):
        tokenize("{{ x " * 30_000)


def test_every_filter_has_an_example_that_can_be_read() -> None:
    for name, each in FILTERS.items():
        for example in each.example.split(" or "):
            assert tokenize(f"{{{{x | {example}}}}}"), name
