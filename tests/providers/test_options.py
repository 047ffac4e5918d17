"""What networks say can be chosen is what their adapters read, and nothing that people could use is left out."""

import re
from pathlib import Path

import pytest

from cadenza import providers
from cadenza.core.channels import Channel
from cadenza.providers.message import AccountRef, Message
from cadenza.providers.option import Option, OptionType
from cadenza.providers.registry import all_options, all_providers, options_of

FOLDERS = Path(providers.__file__).parent
READ = re.compile(r"(?:message|[^.\w])\.?options\.get\(\"(\w+)\"")
# Of mails and messages to one person, or read by programs alone: no composer of posts asks for them.
NOT_ASKED = {
    "unipile": {"api", "in_reply_to", "references"},
    "smtp": {"auto_submitted", "in_reply_to", "references"},
}
DECLARED = [(name, option) for name, options in all_options().items() for option in options]


def source_of(name: str) -> str:
    files = sorted((FOLDERS / name).glob("*.py"))
    return "\n".join(each.read_text("utf-8") for each in files if each.name != "options.py")


@pytest.mark.parametrize(
    ("name", "option"), DECLARED, ids=[f"{name}-{option.name}" for name, option in DECLARED]
)
def test_every_declared_option_is_read_by_its_adapter(name: str, option: Option) -> None:
    assert f'"{option.name}"' in source_of(name)
    assert bool(option.choices) == (option.takes in (OptionType.CHOICE, OptionType.CHOICES))


@pytest.mark.parametrize("name", sorted(all_providers()))
def test_every_option_that_an_adapter_reads_by_name_is_declared(name: str) -> None:
    text = re.sub(r"app\.options", "", source_of(name))
    declared = {option.name for option in all_options()[name]}
    assert set(READ.findall(text)) - declared == NOT_ASKED.get(name, set())


def test_no_declared_choice_is_refused_as_unknown() -> None:
    for name, option in DECLARED:
        adapter = all_providers()[name]
        for channel in option.channels or adapter.channels:
            for value, _ in option.choices:
                given = [value] if option.takes is OptionType.CHOICES else value
                message = Message(channel=channel, text="hello", options={option.name: given})
                found = adapter.validate(message, AccountRef(id="a", remote_id="a"))
                assert [each for each in found if each.field == "options"] == [], (name, value)


def test_a_channel_offers_only_its_own() -> None:
    assert options_of("instagram", Channel.INSTAGRAM_STORY) == ()
    assert "location_id" in {each.name for each in options_of("instagram", Channel.INSTAGRAM_FEED)}
    assert options_of("nobody", Channel.X) == ()
