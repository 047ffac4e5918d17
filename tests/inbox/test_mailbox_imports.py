"""Many mailboxes from one file: each is judged and signed in to by itself, and no password stays or shows."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from cadenza.bootstrap import Runtime, open_runtime
from cadenza.bootstrap.import_mailboxes import import_mailboxes
from cadenza.config.model import Outbound, Settings
from cadenza.demo.networks.smtp import SimulatedSmtp
from cadenza.demo.simulator.serve import simulate
from cadenza.inbox.mailbox_imports import add_import
from cadenza.inbox.read_mailbox_file import MailboxRow, UnreadableFile, read_mailbox_file
from cadenza.sql.tx import Row
from tests.inbox.conftest import HOME, furnish_office
from tests.providers.http.conftest import certificate
from tests.servers.dovecot import PASSWORD, Dovecot, dovecot
from tests.servers.place import ServerUnavailableError
from tests.servers.run import skip_or_fail

__all__ = ["certificate"]
CANARY = "canary-password-that-nobody-may-read"


def read(text: str) -> list[MailboxRow]:
    rows = read_mailbox_file(text)
    assert isinstance(rows, list), rows
    return rows


def test_columns_of_other_programs_and_their_marks_are_understood() -> None:
    text = (
        f"\ufeffEmail;Name;Password;SMTP Server;Port\nada@x.example;Ada;{CANARY};m.x.example;465\n"
    )
    (row,) = read(text)
    assert (row.address, row.wrong) == ("ada@x.example", "")
    assert row.fields == {
        "from_address": "ada@x.example",
        "from_name": "Ada",
        "smtp_host": "m.x.example",
        "smtp_port": "465",
    }
    assert row.secrets == {"smtp_password": CANARY}
    assert CANARY not in repr(row)


@pytest.mark.parametrize(
    ("cells", "word"),
    [
        ("ada,h.example,p", "from_address"),
        ("ada@x.example,,p", "smtp_host is empty"),
        ("ada@x.example,h.example,", "smtp_password is empty"),
        ("ada@x.example,h.example,p,more", "more cells"),
        (f"ada@x.example,{'h' * 3000},p", "too long"),
    ],
)
def test_a_row_that_cannot_be_is_refused_with_the_reason_and_stops_no_other(
    cells: str, word: str
) -> None:
    bad, good = read(f"from_address,smtp_host,smtp_password\n{cells}\nben@x.example,h.example,q\n")
    assert word in bad.wrong
    assert good.wrong == ""


def test_an_address_stands_once_in_a_file() -> None:
    header = "from_address,smtp_host,smtp_password,smtp_port,imap_security\n"
    rows = read(
        f"{header}a@x.example,h,p,587,\nA@x.example,h,p,,\nb@x.example,h,p,x,\nc@x.example,h,p,,ssl3\n"
    )
    assert [bool(row.wrong) for row in rows] == [False, True, True, True]
    assert "row 1" in rows[1].wrong


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        ("from_address,smtp_host,smtp_password\n", "empty"),
        ("from_address,smtp_host\na@x.example,h\n", "missing_column"),
        ("from_address,smtp_host,smtp_pasword\na@x.example,h,p\n", "unknown_column"),
        ("email,address,smtp_host,password\na@x.example,a@x.example,h,p\n", "column_twice"),
        ("from_address,smtp_host,password\n" + "a@x.example,h,p\n" * 501, "too_many"),
        ('from_address,smtp_host,password\n"a@x.example,h,p\n', "bad_csv"),
    ],
)
def test_a_file_that_cannot_be_read_says_what_to_do(text: str, code: str) -> None:
    refused = read_mailbox_file(text)
    assert isinstance(refused, UnreadableFile)
    assert refused.code == code


@dataclass
class Desk:
    runtime: Runtime
    simulated: SimulatedSmtp
    mailboxes: Dovecot

    def line(self, address: str, password: str, imap: str = PASSWORD) -> str:
        quoted = imap.replace('"', '""')
        port = self.simulated.ports["smtp"]
        return f'{address},127.0.0.1,{port},none,{password},127.0.0.1,{self.mailboxes.secure_port},ada,"{quoted}",Ada,{address}'

    async def run(self, *lines: str, check_only: bool = False) -> list[Row]:
        header = "from_address,smtp_host,smtp_port,smtp_security,smtp_password,imap_host,imap_port,imap_username,imap_password,from_name,reply_to"
        rows = read("\n".join((header, *lines)) + "\n")
        add = partial(
            add_import,
            rows=rows,
            workspace_id=HOME,
            id_="i1",
            check_only=check_only,
            ring=self.runtime.keyring,
            by="member:ada",
        )
        await self.runtime.operations.run(add)
        stored = await self.rows("SELECT * FROM mailbox_import_row")
        assert CANARY not in str(stored)
        await import_mailboxes(self.runtime, {"workspace_id": HOME, "import_id": "i1"})
        return await self.rows("SELECT * FROM mailbox_import_row ORDER BY number")

    async def rows(self, sql: str) -> list[Row]:
        return await self.runtime.operations.read(lambda tx, _: tx.all(sql))


@pytest.fixture
def server(certificate: Path) -> Iterator[Dovecot]:
    try:
        with dovecot(certificate) as running:
            yield running
    except ServerUnavailableError as reason:
        skip_or_fail("dovecot", reason)


@pytest.fixture
async def desk(
    server: Dovecot, certificate: Path, tmp_path: Path, database: str
) -> AsyncIterator[Desk]:
    simulated = SimulatedSmtp()
    async with simulate(simulated):
        for name in ("ada", "ben", "cy"):
            simulated.add_mailbox(f"{name}@example.org", CANARY)
        allow = (f"127.0.0.1:{simulated.ports['smtp']}", f"127.0.0.1:{server.secure_port}")
        outbound = Outbound(allow=allow, ca_file=str(certificate))
        settings = Settings(data=tmp_path, database=database, outbound=outbound)
        async with open_runtime(settings) as runtime:
            await furnish_office(runtime.operations)
            yield Desk(runtime, simulated, server)


async def test_what_signs_in_is_connected_and_read_and_what_does_not_says_why(desk: Desk) -> None:
    rows = await desk.run(
        desk.line("ada@example.org", CANARY),
        desk.line("ben@example.org", "wrong"),
        desk.line("cy@example.org", CANARY, imap="wrong"),
        desk.line("nobody", CANARY),
    )
    assert [row["state"] for row in rows] == ["connected", "failed", "failed", "refused"]
    assert rows[1]["message"].startswith("Sending: ")
    assert rows[2]["message"].startswith("Reading: ")
    assert all(row["sealed"] is None for row in rows), "no password stays"
    assert CANARY not in str(rows)
    (account,) = [
        each
        for each in await desk.rows("SELECT * FROM account")
        if each["id"] == rows[0]["account_id"]
    ]
    assert (account["handle"], account["state"]) == ("ada@example.org", "connected")
    assert '"reply_to":"ada@example.org"' in account["settings"]
    assert CANARY not in account["settings"]
    (mailbox,) = await desk.rows("SELECT * FROM mailbox")
    assert (mailbox["account_id"], mailbox["username"]) == (account["id"], "ada")
    (ended,) = await desk.rows("SELECT finished_at FROM mailbox_import")
    assert ended["finished_at"] is not None
    (lane,) = [
        each
        for each in await desk.rows("SELECT * FROM lane")
        if each["account_id"] == account["id"]
    ]
    assert not lane["paused"]


async def test_a_check_connects_nothing(desk: Desk) -> None:
    (row,) = await desk.run(desk.line("ada@example.org", CANARY), check_only=True)
    assert (row["state"], row["account_id"], row["sealed"]) == ("checked", None, None)
    assert await desk.rows("SELECT * FROM mailbox") == []


async def test_a_run_that_is_repeated_signs_nobody_in_twice(desk: Desk) -> None:
    await desk.run(desk.line("ada@example.org", CANARY))
    before = desk.simulated.sign_ins
    await import_mailboxes(desk.runtime, {"workspace_id": HOME, "import_id": "i1"})
    assert desk.simulated.sign_ins == before
