"""How a message of a person on Telegram is delivered."""

from cadenza.providers.option import Option, OptionType

OPTIONS = (
    Option(name="silent", label="Without a sound", takes=OptionType.FLAG),
    Option(name="no_preview", label="No preview of links", takes=OptionType.FLAG),
)
