"""What a page may publish it as."""

from cadenza.providers.option import Option, Takes

OPTIONS = (
    Option(
        name="as",
        label="Publish as",
        takes=Takes.CHOICE,
        choices=(("reel", "A reel"), ("story", "A story")),
        hint="Left out: a post",
    ),
)
