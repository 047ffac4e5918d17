"""Two who write contacts at once, on both databases: nobody is kept twice, and nothing that was said is lost."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cadenza.bootstrap import import_contacts as job
from cadenza.bootstrap import open_runtime
from cadenza.config.model import Settings
from cadenza.contacts.merge import Merge, merge_contacts
from cadenza.contacts.model import Contact, ContactForm, NoSuchContact, contacts_lock
from cadenza.contacts.save import change_contact
from tests.contacts.conftest import ADA, HOME, Desk, person, settle_in

LOCKS = [contacts_lock(HOME)]


async def test_two_imports_of_the_same_people_keep_each_once(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "CHUNK", 10)
    settings = Settings(data=tmp_path, database=database)
    async with open_runtime(settings) as one, open_runtime(settings) as two:
        await one.operations.run(settle_in)
        desks = Desk(one, tmp_path), Desk(two, tmp_path)
        rows = [f"p{n}@example.org" for n in range(100)]
        started: list[Any] = []
        for desk, column, order in zip(desks, ("company", "tags"), (rows, rows[::-1]), strict=True):
            there = await desk.upload(f"email,{column}\n" + "".join(f"{r},X\n" for r in order))
            await desk.start(there)
            started.append(there)
        first, second = await asyncio.gather(
            *(desk.work(there) for desk, there in zip(desks, started, strict=True))
        )
        assert (first.state, second.state) == ("done", "done")
        assert first.created + second.created == 100
        assert first.created + first.updated == second.created + second.updated == 100
        people = await desks[0].rows("SELECT company FROM contact")
        tags = await desks[0].rows("SELECT contact_id FROM contact_tag")
        assert [row["company"] for row in people] == ["X"] * 100
        assert len(tags) == 100


async def test_a_merge_beside_an_edit_loses_neither(desk: Desk) -> None:
    for n in range(10):
        kept = person(await desk.add(email=f"kept{n}@example.org", company="Old"))
        other = person(await desk.add(email=f"other{n}@example.org", first_name="Ben"))

        def merge(tx: Any, now: Any, kept: Contact = kept, other: Contact = other) -> Any:
            return merge_contacts(
                tx, now, workspace_id=HOME, keep_id=kept.id, other_ids=[other.id], by=ADA
            )

        def edit(tx: Any, now: Any, other: Contact = other) -> Any:
            form = ContactForm(last_name="Edited")
            return change_contact(tx, now, form, workspace_id=HOME, contact_id=other.id, by=ADA)

        run = desk.runtime.operations.run
        merged, edited = await asyncio.gather(run(merge, locks=LOCKS), run(edit, locks=LOCKS))
        assert isinstance(merged, Merge), merged
        assert not isinstance(edited, NoSuchContact), "the old id leads to the person"
        (row,) = await desk.rows("SELECT * FROM contact WHERE id = :id", id=kept.id)
        assert (row["company"], row["first_name"], row["last_name"]) == ("Old", "Ben", "Edited")
