"""Keys change without anybody connecting again, and the old one can be taken away."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import pytest

import cadenza
from cadenza.accounts.open import connecting_row, open_account_tokens
from cadenza.accounts.rotate_key import PLACES, rotate_all, rotate_batch
from cadenza.accounts.seal import CannotOpen, Keyring, add_key, load_keyring
from cadenza.notices.preferences import add_webhook, webhook_row, webhook_url_row
from cadenza.people.change_password import email_row, queue_email
from cadenza.people.second_factor import row_name as factor_row
from cadenza.sql.tx import Tx
from tests.accounts.conftest import HOME, Desk, ada

ACCOUNTS = 5


def seal_one_of_each(ring: Keyring) -> Callable[[Tx, datetime], None]:
    def write(tx: Tx, now: datetime) -> None:
        add_webhook(
            tx,
            now,
            workspace_id=HOME,
            id="hook",
            shown_url="https://hooks.example/…",
            sealed_url=ring.seal("https://hooks.example/1", row=webhook_url_row(HOME, "hook")),
            sealed=ring.seal("hook secret", row=webhook_row(HOME, "hook")),
        )
        tx.run(
            """
            INSERT INTO person (id, email, name, password, totp_sealed, created_at,
                password_changed_at)
            VALUES ('ben', 'ben@example.org', 'Ben', '', :sealed, :now, :now)
            """,
            sealed=ring.seal("factor", row=factor_row("ben")),
            now=now,
        )
        queue_email(
            tx,
            now,
            workspace_id=HOME,
            id="letter",
            kind="person.invited",
            body={
                "to": "cy@example.org",
                "name": "Cy",
                "sealed": ring.seal("letter token", row=email_row("letter")),
            },
        )
        tx.run(
            """
            INSERT INTO connecting (
                workspace_id, state_hash, person_id, provider, sealed, created_at, ends_at
            ) VALUES (:home, 'state', 's', 'x', :sealed, :now, :ends)
            """,
            home=HOME,
            sealed=ring.seal("verifier", row=connecting_row(HOME, "state")),
            now=now,
            ends=now + timedelta(minutes=10),
        )

    return write


async def open_all(desk: Desk, ring: Keyring) -> dict[str, str]:
    """Open everything as its users do."""

    def read(tx: Tx, _now: datetime) -> dict[str, str]:
        letter = msgspec.json.decode(tx.value("SELECT body FROM outbox WHERE id = 'letter'"))
        sealed = {
            webhook_row(HOME, "hook"): tx.value("SELECT sealed FROM webhook"),
            webhook_url_row(HOME, "hook"): tx.value("SELECT sealed_url FROM webhook"),
            factor_row("ben"): tx.value("SELECT totp_sealed FROM person"),
            email_row("letter"): letter["sealed"],
            connecting_row(HOME, "state"): tx.value("SELECT sealed FROM connecting"),
        }
        assert letter["to"] == "cy@example.org"
        return {row: ring.open(text, row=row) for row, text in sealed.items()}

    opened = await desk.operations.read(read)
    for n in range(ACCOUNTS):
        tokens = open_account_tokens(ring, await desk.account(f"a{n}"))
        assert tokens is not None
        opened[f"a{n}"] = tokens.access.reveal()
    return opened


async def test_after_a_rotation_the_old_key_is_not_needed_for_anything(
    desk: Desk, tmp_path: Path
) -> None:
    for n in range(ACCOUNTS):
        await desk.connect(ada(remote_id=f"r{n}"), id_=f"a{n}")
    await desk.operations.run(seal_one_of_each(desk.ring))
    before = await open_all(desk, desk.ring)
    add_key(tmp_path / "keys")
    both = load_keyring(tmp_path / "keys")
    newest = Keyring({"k2": both.keys["k2"]})
    with pytest.raises(CannotOpen):
        await open_all(desk, newest)
    batch = await desk.operations.run(
        lambda tx, now: rotate_batch(tx, now, ring=both, place=PLACES[0], limit=2)
    )
    assert (batch.sealed, batch.after) == (2, (HOME, "a1"))
    done = await rotate_all(desk.operations, both, limit=2)
    assert done.sealed == {
        "account": 3,
        "webhook": 2,
        "person": 1,
        "outbox": 1,
        "connecting": 1,
        "mailbox": 0,
        "mailbox_import_row": 0,
        "inbound_source": 0,
    }
    assert done.lost == []
    assert await open_all(desk, newest) == before
    assert (await rotate_all(desk.operations, both)).total == 0


@pytest.mark.parametrize("sealed", ["k0.bG9zdA==", "k1.cut off in the middle"])
async def test_what_no_key_opens_is_told_and_stops_nothing(
    desk: Desk, tmp_path: Path, sealed: str
) -> None:
    for n in range(ACCOUNTS):
        await desk.connect(ada(remote_id=f"r{n}"), id_=f"a{n}")
    await desk.operations.run(
        lambda tx, _: tx.run("UPDATE account SET sealed = :sealed WHERE id = 'a0'", sealed=sealed)
    )
    add_key(tmp_path / "keys")
    done = await rotate_all(desk.operations, load_keyring(tmp_path / "keys"))
    assert done.sealed["account"] == ACCOUNTS - 1
    assert done.lost == [f"account:{HOME}:a0"]


def test_a_new_key_never_takes_the_id_of_one_in_use(tmp_path: Path) -> None:
    load_keyring(tmp_path / "keys")
    assert add_key(tmp_path / "keys") == "k2"
    newest = (tmp_path / "keys").read_text().splitlines()[0]
    (tmp_path / "keys").write_text(newest + "\n")
    assert add_key(tmp_path / "keys") == "k3"
    assert list(load_keyring(tmp_path / "keys").keys) == ["k3", "k2"]


def test_whatever_column_is_sealed_is_rotated() -> None:
    """A new sealed column, or a new file that seals, must come to `PLACES`."""
    home = Path(cadenza.__file__).parent
    columns = {
        (table, column)
        for path in (home / "db" / "migrations").glob("*.sql")
        for table, body in re.findall(
            r"CREATE TABLE (\w+) \((.*?)^\);", path.read_text(), re.DOTALL | re.MULTILINE
        )
        for column in re.findall(r"^\s+(\w*sealed) text", body, re.MULTILINE)
    }
    columns |= {
        found
        for path in (home / "db" / "migrations").glob("*.sql")
        for found in re.findall(
            r"ALTER TABLE (\w+) ADD COLUMN (\w*sealed\w*) text", path.read_text()
        )
    }
    letters = {("outbox", "body")}
    assert {(place.table, place.column) for place in PLACES} == columns | letters
    sealing = {
        str(path.relative_to(home))
        for path in home.rglob("*.py")
        if re.search(r"\.seal\(|\bseal_tokens\(", path.read_text())
    }
    assert (
        sealing
        == {
            "accounts/connect.py",
            "accounts/refresh.py",
            "accounts/rotate_key.py",
            "accounts/seal.py",
            "accounts/seal_addresses.py",
            "api/auth.py",
            "api/connect.py",
            "api/inbound.py",
            "api/mailboxes.py",
            "api/mcp.py",  # words of ten minutes that are kept nowhere
            "api/me.py",
            "api/notices.py",
            "api/people.py",
            "contacts/link_token.py",  # links that stand in mails; they work as long as their key is in the keyring
            "inbox/mailbox_imports.py",
        }
    )
