"""Whatever a person types as an address, connecting answers in words and never with an error of our own."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cadenza.core.clock import SystemClock
from cadenza.providers.connect import Connecting
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import App
from cadenza.providers.outcome import Forbidden, Rejected
from cadenza.providers.registry import all_connectors
from cadenza.providers.split_address import split_address

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
# Half an IPv6 address, a sign that turns into a slash, ports that are none.
BROKEN = ("https://[", "[", "https://exa\u2100mple.org", "https://a:b:c/x", "https://a:99999/x")


@pytest.mark.parametrize("typed", BROKEN)
@pytest.mark.parametrize("name", ["discord", "mastodon", "slack", "unipile", "webhook"])
async def test_a_broken_address_is_refused_in_words(name: str, typed: str) -> None:
    connector = all_connectors()[name]
    fields = {each.name: Secret(typed) if each.secret else typed for each in connector.fields}
    async with OutboundClient(Policy(), clock=SystemClock()) as http:
        connecting = Connecting(http=http, app=App(base_url=""), now=NOW, typed=fields)
        said = await connector.begin(connecting)
    assert isinstance(said, Rejected | Forbidden)


def test_a_whole_address_is_taken_apart() -> None:
    parts = split_address("https://example.org:8443/hooks?a=1")
    assert parts is not None
    assert (parts.hostname, parts.port, parts.path) == ("example.org", 8443, "/hooks")
