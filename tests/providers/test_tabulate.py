"""The page about channels says what the code says, and leaves nothing out."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cadenza.core.clock import SystemClock
from cadenza.providers.capability_table import PAGES, page
from cadenza.providers.connect import Connecting
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import Policy
from cadenza.providers.message import App
from cadenza.providers.outcome import Rejected
from cadenza.providers.registry import all_connectors, all_providers

ROOT = Path(__file__).parents[2]
SETTING = re.compile(r'settings(?:\.get\(|\[)"(\w+)"')
TYPED = {"phone": "+4915112345"}


def test_the_guide_is_what_the_code_says() -> None:
    guide = (ROOT / "docs/guides/providers.md").read_text()
    assert guide == page(), (
        "run: python -m cadenza.providers.capability_table > docs/guides/providers.md"
    )


def test_every_network_is_told_of() -> None:
    assert set(PAGES) == set(all_providers()) == set(all_connectors())


@pytest.mark.parametrize("name", PAGES)
def test_every_setting_that_an_adapter_reads_is_told(name: str) -> None:
    sources = (ROOT / "src/cadenza/providers" / name).glob("*.py")
    read = {found for source in sources for found in SETTING.findall(source.read_text())}
    assert read <= set(PAGES[name].settings)


@pytest.mark.parametrize("name", [name for name, about in PAGES.items() if about.app])
async def test_without_its_app_a_network_says_what_to_set(name: str) -> None:
    async with OutboundClient(Policy(), clock=SystemClock()) as http:
        connecting = Connecting(
            http=http,
            app=App(base_url=""),
            now=datetime.now(UTC),
            typed=dict(TYPED),
            redirect_uri="https://cadenza.example/back",
            state="s",
            verifier="v" * 43,
        )
        refused = await all_connectors()[name].begin(connecting)
    assert isinstance(refused, Rejected)
    assert refused.code == "no_app"
