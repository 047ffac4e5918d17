"""What a toot may choose: who sees it, a warning before it, its language."""

from cadenza.providers.option import Option, OptionType

OPTIONS = (
    Option(
        name="visibility",
        label="Who sees it",
        takes=OptionType.CHOICE,
        choices=(
            ("public", "Everybody"),
            ("unlisted", "Everybody, but not in public lists"),
            ("private", "Followers only"),
        ),
    ),
    Option(name="spoiler_text", label="Warning before the text", hint="Counts as part of the text"),
    Option(name="sensitive", label="Hide the pictures at first", takes=OptionType.FLAG),
    Option(name="language", label="Language", hint="Two letters, such as en"),
)
