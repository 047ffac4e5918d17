"""Who may reply on Threads, and what is quoted."""

from cadenza.providers.option import Option, OptionType

OPTIONS = (
    Option(
        name="reply_control",
        label="Who may reply",
        takes=OptionType.CHOICE,
        choices=(
            ("everyone", "Everybody"),
            ("accounts_you_follow", "People you follow"),
            ("mentioned_only", "People you mention"),
        ),
    ),
    Option(name="quote_post_id", label="Quoted post", hint="Its id on Threads"),
)
