"""All there is to say of a message on a channel: what the adapter refuses or warns of, and what is changed."""

from dataclasses import replace

from cadenza.providers.base import Problem, Provider
from cadenza.providers.message import AccountRef, Message


def check_message(provider: Provider, message: Message, account: AccountRef) -> list[Problem]:
    """Return the adapter's own findings, with files by their owner's names, then what is done to make them fit."""
    changed = [
        Problem("media_fitted", item.fitting.message, field="media", blocking=False)
        for item in message.media
        if item.fitting is not None
    ]
    media = tuple(
        item if item.fitting is None else replace(item, name=item.fitting.name)
        for item in message.media
    )
    return [*provider.validate(replace(message, media=media), account), *changed]
