"""All there is to say of a message on a channel: what the adapter refuses or warns of, and what is changed."""

from cadenza.providers.base import Problem, Provider
from cadenza.providers.message import AccountRef, Message


def check_message(provider: Provider, message: Message, account: AccountRef) -> list[Problem]:
    """Return the adapter's own findings, then what is done to the files so that they fit."""
    changed = [
        Problem("media_fitted", item.fitting.says, field="media", blocking=False)
        for item in message.media
        if item.fitting is not None
    ]
    return [*provider.validate(message, account), *changed]
