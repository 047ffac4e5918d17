"""Who sees a post on LinkedIn."""

from cadenza.providers.option import Option, OptionType

OPTIONS = (
    Option(
        name="visibility",
        label="Who sees it",
        takes=OptionType.CHOICE,
        choices=(
            ("PUBLIC", "Everybody"),
            ("LOGGED_IN", "Members of LinkedIn"),
            ("CONNECTIONS", "Connections only"),
        ),
    ),
)
