"""How a Telegram message is read and delivered."""

from cadenza.providers.option import Option, OptionType
from cadenza.providers.telegram.markup import MODES

OPTIONS = (
    Option(
        name="parse_mode",
        label="The text is written in",
        takes=OptionType.CHOICE,
        choices=tuple((mode, mode) for mode in MODES),
        hint="Left out: plain text",
    ),
    Option(name="silent", label="Without a sound", takes=OptionType.FLAG),
    Option(name="protect", label="Cannot be forwarded or saved", takes=OptionType.FLAG),
    Option(name="disable_preview", label="No preview of links", takes=OptionType.FLAG),
    Option(name="topic", label="Topic of the group", hint="Its number"),
)
