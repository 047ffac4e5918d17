"""A first comment is sent, or a person reads beforehand that it is not; never dropped silently."""

from __future__ import annotations

import pytest

from cadenza.core.channels import Channel
from cadenza.providers.message import AccountRef, Message
from cadenza.providers.registry import all_providers

CASES = [
    (name, channel)
    for name, provider in all_providers().items()
    for channel in sorted(provider.channels)
]


@pytest.mark.parametrize(("name", "channel"), CASES)
@pytest.mark.parametrize("comment", ["More below", None, "  "])
def test_a_first_comment_is_sent_or_warned_of(
    name: str, channel: Channel, comment: str | None
) -> None:
    provider = all_providers()[name]
    message = Message(channel=channel, text="Good morning", first_comment=comment)
    account = AccountRef(id="a1", remote_id="1")
    warned = [p for p in provider.validate(message, account) if p.code == "first_comment"]
    sends = provider.capabilities(channel).first_comment
    assert bool(warned) == (comment == "More below" and not sends)
    assert not any(problem.blocking for problem in warned)
