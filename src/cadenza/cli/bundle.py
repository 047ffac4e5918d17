"""`cadenza bundle`: what a maintainer needs to help you, in one ZIP, with secrets and content left out.

It holds versions, settings (secrets as a mark), counts of rows and states, health of the database, and
the last thousand things that were tried, without what they said. Read it before you send it.
"""

import io
import json
import platform
import zipfile
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from cyclopts import App

from cadenza.cli.codes import OK
from cadenza.cli.config import described, readiness, warn
from cadenza.cli.settings import USUAL, Chosen, opened_house
from cadenza.cli.show import say
from cadenza.client.errors import ClientError
from cadenza.core.zones import tz_version
from cadenza.providers.http.redact import redact
from cadenza.sql.tx import Tx

app = App(name="bundle", help="Pack what a maintainer needs to help you, without secrets.")

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
HOLDS = "SELECT epoch, beat_at, held_at, hold_kind, hold_reason FROM installation"


@app.default
async def bundle(file: Path = Path("cadenza-bundle.zip"), /, *, chosen: Chosen = USUAL) -> int:
    """Pack versions, settings without secrets, counts and what was tried; no texts, no tokens.

    Parameters
    ----------
    file
        Where to.
    """
    async with opened_house(chosen) as house:
        settings = house.settings
        found: dict[str, Any] = await house.operations.read(_look)
        signs = await house.engine.store.vital_signs()
        tallies = await house.engine.store.tally()
        workers = await house.engine.workers()
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
        "engine.json": {"signs": signs, "tally": tallies, "workers": workers},
        **{f"{name}.json": rows for name, rows in found.items()},
    }
    size = _write(file, parts)
    say(f"{file}: {size:,} bytes, {len(parts)} files. Read it before you send it.")
    return OK


def _look(tx: Tx, now: datetime) -> dict[str, Any]:
    return {
        "deliveries": tx.all(STATES),
        "accounts": tx.all(ACCOUNTS),
        "installation": tx.all(HOLDS),
        "attempts": tx.all(ATTEMPTS),
    }


def _write(file: Path, parts: dict[str, Any]) -> int:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, part in parts.items():
            plain = msgspec.to_builtins(part)
            packed.writestr(name, redact(json.dumps(plain, indent=2, default=str)))
    try:
        with file.open("xb") as target:
            target.write(out.getvalue())
    except OSError as error:
        raise ClientError(f"{file} cannot be written: {error.strerror}") from error
    return out.tell()
