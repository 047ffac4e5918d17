"""What the server's settings promise is said, in the log at start and to `doctor`."""

import logging
from collections.abc import Callable

import pytest

from cadenza.engine.stores.redis import RedisStore
from cadenza.engine.stores.redis.server_settings import vital_signs
from tests.servers.valkey import PrivateValkey

Servers = Callable[..., PrivateValkey]


@pytest.mark.parametrize(
    ("options", "line", "words"),
    [
        ({}, "durability", "appendonly is off"),
        ({"appendonly": "yes"}, "durability", "everysec"),
        ({"appendonly": "yes", "appendfsync": "no"}, "durability", "appendfsync is no"),
        ({"maxmemory-policy": "allkeys-lru"}, "eviction", "noeviction"),
    ],
    ids=["nothing kept", "every second", "never synced", "evicting"],
)
async def test_a_setting_that_may_lose_jobs_is_warned_of(
    private_valkey: Servers,
    caplog: pytest.LogCaptureFixture,
    options: dict[str, str],
    line: str,
    words: str,
) -> None:
    store = RedisStore(private_valkey(options=options).url)
    with caplog.at_level(logging.WARNING, "cadenza.engine"):
        await store.open()
    sign = (await store.vital_signs())[line]
    assert sign.startswith("warning: ")
    assert words in sign
    assert words in caplog.text
    assert not store.traits.durable
    await store.close()


async def test_a_server_that_syncs_always_is_durable_and_not_warned_of(
    private_valkey: Servers, caplog: pytest.LogCaptureFixture
) -> None:
    store = RedisStore(private_valkey(options={"appendonly": "yes", "appendfsync": "always"}).url)
    with caplog.at_level(logging.WARNING, "cadenza.engine"):
        await store.open()
    assert store.traits.durable
    assert caplog.text == ""
    assert (await store.vital_signs())["durability"] == "what was acknowledged survives a power cut"
    await store.close()


def test_replicas_that_no_write_waits_for_are_warned_of() -> None:
    seen = {"connected_slaves": "2", "redis_version": "7.2.4"}
    careless = vital_signs(seen, prefix="cadenza", waits_for=0)["replicas"]
    careful = vital_signs(seen, prefix="cadenza", waits_for=1)["replicas"]
    assert careless.startswith("warning: 2")
    assert careful == "2; each write waits for 1"


def test_a_server_that_hides_its_settings_is_not_called_durable() -> None:
    signs = vital_signs({"redis_version": "7.2.4"}, prefix="cadenza", waits_for=0)
    assert signs["durability"].startswith("unknown")


def test_an_old_server_is_named() -> None:
    signs = vital_signs({"redis_version": "6.2.1"}, prefix="cadenza", waits_for=0)
    assert "too old" in signs["version"]
