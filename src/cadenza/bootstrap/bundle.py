"""What a maintainer needs to help, in one ZIP, with secrets and content left out.

It holds versions, settings (secrets as a mark), counts of rows and states, health of the database, and
the last thousand things that were tried, without what they said.
"""

import io
import json
import platform
import zipfile
from datetime import datetime
from importlib.metadata import version
from typing import Any

import msgspec

from cadenza.bootstrap.describe import described, readiness, warn
from cadenza.bootstrap.model import Runtime
from cadenza.core.zones import tz_version
from cadenza.providers.http.redact import redact
from cadenza.sql.tx import Tx

ATTEMPTS = """
    SELECT account.provider, delivery.channel, delivery.state, attempt.outcome, attempt.began_at,
        attempt.ended_at
    FROM attempt
    JOIN delivery ON delivery.workspace_id = attempt.workspace_id AND delivery.id = attempt.delivery_id
    LEFT JOIN account ON account.workspace_id = delivery.workspace_id AND account.id = delivery.account_id
    ORDER BY attempt.began_at DESC LIMIT 1000
"""
STATES = "SELECT state, count(*) AS count FROM delivery GROUP BY state ORDER BY state"
ACCOUNTS = "SELECT provider, state, count(*) AS count FROM account GROUP BY provider, state ORDER BY provider"
HOLDS = "SELECT epoch, beat_at, held_at, hold_kind, hold_reason, jump_reason FROM installation"


async def write_bundle(runtime: Runtime) -> bytes:
    """Look at everything, and pack it."""
    settings = runtime.settings
    found: dict[str, Any] = await runtime.operations.read(_look)
    parts: dict[str, Any] = {
        "versions.json": {
            "cadenza": version("cadenza"),
            "python": platform.python_version(),
            "system": platform.platform(),
            "tz": tz_version(),
        },
        "settings.json": [
            {"key": key, "value": value, "from": origin}
            for key, value, origin in described(settings)
        ],
        "networks.json": [{"provider": n.provider, "ready": n.ready} for n in readiness(settings)],
        "warnings.json": warn(settings),
        "engine.json": {
            "signs": await runtime.engine.store.vital_signs(),
            "tally": await runtime.engine.store.tally(),
            "workers": await runtime.engine.workers(),
        },
        **{f"{name}.json": rows for name, rows in found.items()},
    }
    return _pack(parts)


def _look(tx: Tx, now: datetime) -> dict[str, Any]:
    return {
        "deliveries": tx.all(STATES),
        "accounts": tx.all(ACCOUNTS),
        "installation": tx.all(HOLDS),
        "attempts": tx.all(ATTEMPTS),
    }


def _pack(parts: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, part in parts.items():
            plain = msgspec.to_builtins(part)
            packed.writestr(name, redact(json.dumps(plain, indent=2, default=str)))
    return out.getvalue()
