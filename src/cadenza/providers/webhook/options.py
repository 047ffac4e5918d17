"""What a webhook calls its event."""

from cadenza.providers.option import Option

OPTIONS = (Option(name="type", label="Type of the event", hint="Left out: the usual one"),)
