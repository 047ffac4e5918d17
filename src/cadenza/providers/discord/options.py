"""As whom and where a Discord webhook speaks, and who is notified by a mention."""

from cadenza.providers.option import Option, OptionType

OPTIONS = (
    Option(name="username", label="Shown name", hint="Left out: the webhook's own"),
    Option(name="avatar_url", label="Shown picture", hint="A public address"),
    Option(name="thread_id", label="Into this thread", hint="The thread's id"),
    Option(name="thread_name", label="As a new thread of a forum", hint="The thread's title"),
    Option(
        name="mentions",
        label="A mention notifies",
        takes=OptionType.CHOICES,
        choices=(("users", "People"), ("roles", "Roles"), ("everyone", "Everyone")),
        hint="Left out: nobody",
    ),
)
