import asyncio
from datetime import datetime
from pathlib import Path

import pytest

from cadenza.cli.codes import MISUSED, OK, REFUSED
from cadenza.cli.run import run
from cadenza.core.clock import SystemClock
from cadenza.db.open import open_product
from cadenza.sql.tx import Tx


def keep_ledger(address: str, *, sent: int, counter: int) -> None:
    """Write an account with a cap of two posts a day, and what it sent."""

    def write(tx: Tx, now: datetime) -> None:
        tx.run(
            "INSERT INTO workspace (id, name, zone, created_at) VALUES ('w', 'Ada', 'UTC', :now)",
            now=now,
        )
        tx.run(
            """
            INSERT INTO account (workspace_id, id, provider, remote_id, zone, created_at)
            VALUES ('w', 'ada', 'mastodon', '1', 'UTC', :now)
            """,
            now=now,
        )
        tx.run(
            "INSERT INTO budget (workspace_id, scope, action, kind, amount) VALUES ('w', 'account:ada', 'post', 'day', 2)"
        )
        for n in range(sent):
            tx.run(
                """
                INSERT INTO activity (workspace_id, id, account_id, action, mode, state, counts, reserved_at)
                VALUES ('w', :id, 'ada', 'post', 'live', 'success', :yes, :now)
                """,
                id=f"a{n}",
                yes=True,
                now=now,
            )
        tx.run(
            "INSERT INTO bucket (workspace_id, scope, action, mode, kind, period, taken) "
            "VALUES ('w', 'account:ada', 'post', 'live', 'day', :day, :taken)",
            day=now.date().isoformat(),
            taken=counter,
        )

    async def fill() -> None:
        async with open_product(address, clock=SystemClock()) as operations:
            await operations.run(write)

    asyncio.run(fill())


@pytest.mark.parametrize(
    ("sent", "counter", "code", "message"),
    [
        (2, 2, OK, "every limit held"),
        (3, 3, REFUSED, "BROKEN"),
        (1, 2, REFUSED, "the counter says 2, the ledger 1"),
    ],
)
def test_an_audit_tells_what_was_reached_and_whether_counters_lie(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    sent: int,
    counter: int,
    code: int,
    message: str,
) -> None:
    address = f"sqlite:///{tmp_path}/product.sqlite3"
    keep_ledger(address, sent=sent, counter=counter)

    assert run(["limits", "audit", "--store", address]) == code
    assert message in capsys.readouterr().out


def test_an_operator_sets_what_all_accounts_of_a_network_may_do_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"sqlite:///{tmp_path}/product.sqlite3"
    keep_ledger(address, sent=0, counter=0)
    store = ["--store", address]

    assert run(["limits", "rate", "mastodon", "300", "--per", "60", *store]) == OK
    assert "300 in 60 s" in capsys.readouterr().out
    assert run(["limits", "rate", *store]) == OK
    assert "mastodon" in capsys.readouterr().out
    assert run(["limits", "rate", "mastodon", "--off", *store]) == OK
    assert "No network has a rate" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        (["mastodn", "3"], "mastodon"),
        (["mastodon", "0"], "at least 1"),
        (["mastodon", "3", "--per", "0"], "at least 1"),
        (["mastodon", "3", "--off"], "either"),
        (["--off"], "either"),
    ],
)
def test_a_rate_that_makes_no_sense_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], requested: list[str], message: str
) -> None:
    address = f"sqlite:///{tmp_path}/product.sqlite3"
    keep_ledger(address, sent=0, counter=0)
    assert run(["limits", "rate", *requested, "--store", address]) == MISUSED
    assert message in capsys.readouterr().err
