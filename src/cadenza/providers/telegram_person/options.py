"""How a message of a person on Telegram is delivered."""

from cadenza.providers.option import Option, Takes

OPTIONS = (
    Option(name="silent", label="Without a sound", takes=Takes.FLAG),
    Option(name="no_preview", label="No preview of links", takes=Takes.FLAG),
)
