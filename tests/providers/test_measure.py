"""What a composer is told about lengths is what the adapters refuse by."""

import pytest

from cadenza.core.channels import Channel
from cadenza.providers.measure import measure, most_files
from cadenza.providers.message import AccountRef, Message
from cadenza.providers.registry import all_providers

NOBODY = AccountRef(id="", remote_id="")
PAIRS = [
    (name, channel)
    for name, adapter in all_providers().items()
    for channel in adapter.channels
    if measure(name, Message(channel=channel), NOBODY)[0].limit is not None
]


@pytest.mark.parametrize(("name", "channel"), PAIRS)
@pytest.mark.parametrize("letter", ["a", "é", "👩‍🚀", "日"])
def test_a_text_is_refused_from_one_past_its_limit_on(
    name: str, channel: Channel, letter: str
) -> None:
    adapter = all_providers()[name]

    def told(count: int, end: str = "") -> tuple[bool, bool]:
        message = Message(channel=channel, text=letter * count + end)
        length = measure(name, message, NOBODY)[0]
        assert length.limit is not None
        refused = any(each.code == "too_long" for each in adapter.validate(message, NOBODY))
        return length.length > length.limit, refused

    limit = measure(name, Message(channel=channel), NOBODY)[0].limit
    assert limit is not None
    for count in {1, limit // 30, limit // 4, limit // 2, limit - 1, limit, limit + 1}:
        over, refused = told(count)
        assert over == refused, (name, count)
        over, refused = told(count, "\n ")
        assert over == refused, (name, count, "with space at its end")


def test_each_part_of_a_thread_is_measured() -> None:
    message = Message(channel=Channel.X, text="one", parts=("three", "seven"))
    assert [each.length for each in measure("x", message, NOBODY)] == [3, 5, 5]


def test_an_accounts_own_limits_count() -> None:
    premium = AccountRef(id="", remote_id="", settings={"characters": 25_000})
    assert measure("x", Message(channel=Channel.X), premium)[0].limit == 25_000
    server = AccountRef(id="", remote_id="", settings={"limits": {"media": 16, "characters": 9}})
    assert measure("mastodon", Message(channel=Channel.MASTODON), server)[0].limit == 9
    assert most_files("mastodon", Channel.MASTODON, server) == 16
    assert most_files("instagram", Channel.INSTAGRAM_STORY, NOBODY) == 1
