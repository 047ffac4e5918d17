"""What a post on Bluesky may choose: its languages, and the words of its link card."""

from cadenza.providers.option import Option, OptionType

OPTIONS = (
    Option(name="langs", label="Languages", takes=OptionType.TEXTS, hint="Up to three, such as en"),
    Option(name="link_title", label="Title of the link's card"),
    Option(name="link_description", label="Text of the link's card"),
)
