"""What a page may publish it as."""

from cadenza.providers.option import Option, OptionType

OPTIONS = (
    Option(
        name="as",
        label="Publish as",
        takes=OptionType.CHOICE,
        choices=(("reel", "A reel"), ("story", "A story")),
        hint="Left out: a post",
    ),
)
