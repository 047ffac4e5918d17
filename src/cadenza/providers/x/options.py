"""What a post on X may choose: who may reply."""

from cadenza.providers.option import Option, OptionType

OPTIONS = (
    Option(
        name="reply_settings",
        label="Who may reply",
        takes=OptionType.CHOICE,
        choices=(
            ("following", "People you follow"),
            ("mentionedUsers", "People you mention"),
            ("subscribers", "Subscribers"),
            ("verified", "Verified accounts"),
        ),
    ),
)
