"""Networks are found by their folders."""

from __future__ import annotations

import pytest

from cadenza.core.channels import Channel
from cadenza.providers import registry
from cadenza.providers.base import Idempotency


def test_every_folder_with_an_adapter_is_found() -> None:
    assert {"mastodon", "bluesky"} <= set(registry.all_providers())
    assert "http" not in registry.all_providers()
    assert set(registry.all_connectors()) <= set(registry.all_providers())


def test_a_channel_knows_who_publishes_on_it() -> None:
    assert [each.name for each in registry.providers_of(Channel.MASTODON)] == ["mastodon"]


def test_a_misspelt_name_gets_a_guess() -> None:
    with pytest.raises(registry.UnknownProviderError, match="mastodon"):
        registry.provider("mastadon")


def test_what_adapters_say_of_themselves_is_sound() -> None:
    for provider in registry.all_providers().values():
        assert provider.channels
        for channel in provider.channels:
            can = provider.capabilities(channel)
            keyed = can.idempotency in {Idempotency.NATIVE, Idempotency.SOME_SERVERS}
            assert (can.window is not None) == keyed, provider.name
