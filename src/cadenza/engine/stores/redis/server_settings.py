"""What the server's settings promise, in words: for `doctor`, and for the log at start.

Redis keeps its data in memory; what a power cut or a failover takes away depends on how it is
set. Some hosted servers do not show their settings: then that is said instead.
"""

from collections.abc import Mapping
from typing import Any

from redis.exceptions import RedisError

from cadenza.engine.stores.redis.pack import text
from cadenza.engine.stores.redis.wire import Wire

_ASKED = ("appendonly", "appendfsync", "maxmemory", "maxmemory-policy")
_UNKNOWN = "unknown"
OLDEST = 7  # the first version whose scripts may read the clock and write


async def read_settings(wire: Wire) -> dict[str, str]:
    """Ask the server about itself; what it does not tell is missing."""
    said: dict[str, str] = {}
    for section in ("server", "replication", "cluster"):
        said |= _read_info(await wire.ask("INFO", section, again=True, here=True))
    for name in _ASKED:
        try:
            found = await wire.ask("CONFIG", "GET", name, again=True, here=True)
        except RedisError:
            continue
        pairs = (
            found if isinstance(found, dict) else dict(zip(found[::2], found[1::2], strict=True))
        )
        said |= {text(key): text(value) for key, value in pairs.items()}
    return said


def _read_info(answer: Any) -> dict[str, str]:
    return dict(line.split(":", 1) for line in text(answer).splitlines() if ":" in line)


def is_durable(settings: Mapping[str, str]) -> bool:
    """Say whether what was acknowledged survives a power cut."""
    return settings.get("appendonly") == "yes" and settings.get("appendfsync") == "always"


def vital_signs(settings: Mapping[str, str], *, prefix: str, waits_for: int) -> dict[str, str]:
    """Word the settings; a line that begins with a warning names what to change."""
    version = settings.get("valkey_version") or settings.get("redis_version", _UNKNOWN)
    signs = {
        "store": "redis",
        "server": f"{settings.get('server_name', 'redis')} {version}",
        "keys": f"{prefix}:*",
        "durability": _durability(settings),
        "eviction": _eviction(settings.get("maxmemory-policy", _UNKNOWN)),
        "replicas": _replicas(settings, waits_for),
        "wake-ups": "pub/sub, and a poll",
    }
    if settings.get("cluster_enabled") == "1":
        signs["cluster"] = "yes: a call that spans queues is one step for each queue"
    if settings.get("role") in ("slave", "replica"):
        signs["role"] = "warning: a replica, which cannot be written to; connect to the primary"
    number = version.split(".")[0]
    if number.isdigit() and int(number) < OLDEST:
        signs["version"] = f"warning: {version} is too old; Redis {OLDEST} or Valkey is needed"
    return signs


def _durability(settings: Mapping[str, str]) -> str:
    kept, synced = settings.get("appendonly"), settings.get("appendfsync")
    if kept is None:
        return "unknown: the server does not show its settings; ask for appendonly and appendfsync"
    if kept != "yes":
        return (
            "warning: appendonly is off; a crash of the server loses what came since its last "
            "snapshot, or everything; set appendonly yes"
        )
    if synced == "always":
        return "what was acknowledged survives a power cut"
    if synced == "everysec":
        return (
            "warning: appendfsync is everysec; a power cut may lose the last second, and a job "
            "that finished in it may run again; set appendfsync always to be sure"
        )
    return "warning: appendfsync is no; a power cut may lose what the system had not yet written"


def _eviction(policy: str) -> str:
    if policy in ("noeviction", _UNKNOWN):
        return policy
    return f"warning: maxmemory-policy is {policy}, which throws jobs away; set it to noeviction"


def _replicas(settings: Mapping[str, str], waits_for: int) -> str:
    count = int(settings.get("connected_slaves", "0"))
    if not count:
        return "none" if not waits_for else f"warning: none, and writes wait for {waits_for}"
    if waits_for:
        return f"{count}; each write waits for {waits_for}"
    return (
        f"warning: {count}, and writes do not wait for them: a failover may lose the last ones; "
        "say ?replicas=1 in the address"
    )


def warnings(signs: Mapping[str, str]) -> list[str]:
    """Pick what should be put right."""
    return [
        words.removeprefix("warning: ") for words in signs.values() if words.startswith("warning")
    ]
