"""Planning outreach at scale: messages over many accounts, planned and stored, beside a plain COPY of the same rows.

    python -m bench.outreach [messages] [accounts]

A sequence with everybody in it is planned as the background job does: accounts assigned, times found, deliveries
stored with all their indexes. Then the same rows are loaded by COPY into the same table, emptied before. The time may
be twice that of the COPY, the process's memory at most 500 MB. Defaults: 1,000,000 messages, 1,000 accounts.
"""

import asyncio
import resource
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import asyncpg

from cadenza.bootstrap import Runtime, open_runtime
from cadenza.bootstrap.plan_sequences import plan_sequence
from cadenza.config.model import Settings
from cadenza.core.channels import Channel
from cadenza.outreach import run
from cadenza.outreach.model import Sequence, Step, StepVariant
from cadenza.outreach.store import SequenceForm, create_sequence
from cadenza.people.workspaces import NewWorkspace, create_workspace
from cadenza.sql.tx import Tx
from cadenza.templates.model import Template, TemplateContent
from cadenza.templates.store import create_template
from tests.servers.postgres import PrivatePostgres

HOME, BY = "home", "system"
MESSAGES, ACCOUNTS = 1_000_000, 1_000
BAR, MEMORY = 2.0, 500


async def prepare(runtime: Runtime, link: Any, messages: int, accounts: int) -> Sequence:
    """A sequence of one mail with its accounts, and everybody in it, ready to be planned."""
    ids = [f"mailbox-{n:04}" for n in range(accounts)]

    def begin(tx: Tx, now: datetime) -> Sequence:
        new = NewWorkspace(id=HOME, name=HOME, zone="UTC")
        create_workspace(tx, now, new=new, by=BY)
        tx.run(
            """
            INSERT INTO account (workspace_id, id, provider, remote_id, zone, created_at)
            SELECT :home, id, 'smtp', id, 'America/New_York', :now FROM TABLE(:ids) AS new (id text)
            """,
            home=HOME,
            ids=[(id_,) for id_ in ids],
            now=now,
        )
        words = TemplateContent(subject="Hi {{first_name}}", body="Hello {{first_name}}")
        made = create_template(tx, now, words, workspace_id=HOME, name="Hello", by=BY)
        assert isinstance(made, Template)
        version = str(tx.value("SELECT id FROM template_version"))
        step = Step(channel=Channel.EMAIL, variants=(StepVariant(template_version_id=version),))
        form = SequenceForm(name="Autumn", steps=[step], account_ids=ids)
        sequence = create_sequence(tx, now, form, workspace_id=HOME, by=BY)
        assert isinstance(sequence, Sequence), sequence
        return sequence

    sequence = await runtime.operations.run(begin)
    people = f"SELECT n, 'contact-' || to_char(n, 'FM0000000') AS id FROM generate_series(1, {messages}) n"
    await link.execute(
        f"""
        INSERT INTO contact (workspace_id, id, first_name, created_at, updated_at)
        SELECT '{HOME}', id, 'Person ' || n, now(), now() FROM ({people}) p
        """
    )
    await link.execute(
        f"""
        INSERT INTO contact_address (workspace_id, contact_id, channel, address, written, created_at)
        SELECT '{HOME}', id, 'email', 'p' || n || '@example.org', 'p' || n || '@example.org', now()
        FROM ({people}) p
        """
    )
    await link.execute(
        f"""
        INSERT INTO sequence_contact (workspace_id, sequence_id, contact_id, position, ready_at, added_at)
        SELECT '{HOME}', '{sequence.id}', id, n, now(), now() FROM ({people}) p
        """
    )
    about = {"workspace_id": HOME, "sequence_id": sequence.id}
    await runtime.operations.run(lambda tx, now: run.start(tx, now, by=BY, **about))
    await link.execute("VACUUM ANALYZE")
    return sequence


async def copy_again(link: Any, path: Path) -> float:
    """Load the planned rows once more by COPY, into the same table with its indexes; return the seconds."""
    columns = [
        row["column_name"]
        for row in await link.fetch(
            """
            SELECT column_name FROM information_schema.columns
            WHERE table_name = 'delivery' AND is_generated = 'NEVER' ORDER BY ordinal_position
            """
        )
    ]
    await link.copy_from_table("delivery", columns=columns, output=str(path))
    await link.execute("TRUNCATE delivery CASCADE")
    await link.execute("CHECKPOINT")
    began = time.perf_counter()
    await link.copy_to_table("delivery", columns=columns, source=str(path))
    return time.perf_counter() - began


async def main(messages: int, accounts: int) -> bool:
    """Measure; say whether the bars are met."""
    with tempfile.TemporaryDirectory() as folder, PrivatePostgres.create(fsync=True) as server:
        settings = Settings(data=Path(folder), database=server.dsn)
        async with open_runtime(settings) as runtime:
            link = await asyncpg.connect(server.dsn)
            sequence = await prepare(runtime, link, messages, accounts)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            began = time.perf_counter()
            await plan_sequence(runtime, {"workspace_id": HOME, "sequence_id": sequence.id})
            planned = time.perf_counter() - began
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            count = await link.fetchval("SELECT count(*) FROM delivery")
            waits = await link.fetchval(
                "SELECT count(*) FROM sequence_contact WHERE state = 'waiting'"
            )
            copied = await copy_again(link, Path(folder) / "rows")
            await link.close()
    ratio = planned / copied
    print(f"{count} messages planned over {accounts} accounts, {waits} left, in {planned:.1f} s")
    print(f"COPY of the same rows: {copied:.1f} s; ratio {ratio:.2f} (bar {BAR})")
    print(f"memory {memory:.0f} MB, {before:.0f} MB before planning (bar {MEMORY})")
    return ratio <= BAR and memory <= MEMORY


if __name__ == "__main__":
    words = [int(word) for word in sys.argv[1:]]
    told = (words + [MESSAGES, ACCOUNTS][len(words) :])[:2]
    sys.exit(0 if asyncio.run(main(*told)) else 1)
