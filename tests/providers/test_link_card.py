"""A post's link is shown, or a person reads beforehand that it is not; never dropped silently."""

from __future__ import annotations

import pytest

from cadenza.core.channels import Channel
from cadenza.providers.message import AccountRef, MediaItem, Message
from cadenza.providers.registry import all_providers
from tests.providers.pictures import picture

LINK = "https://example.org/a"
SHOWN_BY = {"bluesky", "facebook", "linkedin", "threads", "webhook"}
# Of these a post with pictures shows no card.
ONLY_ALONE = {"bluesky", "facebook", "linkedin", "threads"}
CASES = [
    (name, channel)
    for name, provider in all_providers().items()
    for channel in sorted(provider.channels)
]


@pytest.mark.parametrize(("name", "channel"), CASES)
@pytest.mark.parametrize("media", [(), (picture(),)], ids=["text", "picture"])
def test_a_link_is_shown_or_told_of(
    name: str, channel: Channel, media: tuple[MediaItem, ...]
) -> None:
    shown = name in SHOWN_BY and not (media and name in ONLY_ALONE)
    assert bool(_told(name, channel, media, "Good morning")) == (not shown)


@pytest.mark.parametrize(("name", "channel"), CASES)
def test_a_link_that_stands_in_the_words_is_seen(name: str, channel: Channel) -> None:
    assert _told(name, channel, (), f"Good morning: {LINK}.") == []


def _told(name: str, channel: Channel, media: tuple[MediaItem, ...], text: str) -> list[str]:
    message = Message(channel=channel, text=text, link=LINK, media=media)
    found = all_providers()[name].validate(message, AccountRef(id="a1", remote_id="1"))
    return [problem.message for problem in found if problem.field == "link"]
