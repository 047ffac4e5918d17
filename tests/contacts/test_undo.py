"""Undoing an import takes back what the import did, and leaves what people did."""

from typing import Any

import pytest

from cadenza.bootstrap import import_contacts as job
from cadenza.contacts import audiences, import_rows
from cadenza.contacts.audiences import Member
from cadenza.contacts.model import ContactForm
from cadenza.contacts.save import add_note, change_contact
from cadenza.deliveries.recipient_channels import NewChannel, save_channels
from tests.contacts.conftest import ADA, HOME, Desk, person

CHANNELS = (
    "username,title,category\n@Bakers_Berlin,Bakers,food\n@Cy_News,News,press\n@Ada_Talks,T,\n"
)


async def companies(desk: Desk) -> dict[str, str]:
    rows = await desk.rows(
        """
        SELECT a.address, c.company FROM contact c
        JOIN contact_address a ON a.workspace_id = c.workspace_id AND a.contact_id = c.id
        """
    )
    return {row["address"]: row["company"] for row in rows}


async def edit(desk: Desk, address: str, company: str) -> None:
    (row,) = await desk.rows(
        "SELECT contact_id FROM contact_address WHERE address = :address", address=address
    )
    await desk.run(
        lambda tx, now: change_contact(
            tx,
            now,
            ContactForm(company=company),
            workspace_id=HOME,
            contact_id=row["contact_id"],
            by=ADA,
        )
    )


async def stop_after_first_chunk(desk: Desk, monkeypatch: pytest.MonkeyPatch, text: str) -> Any:
    """Import the first 3 rows, and leave the import running."""
    monkeypatch.setattr(job, "CHUNK", 3)
    there = await desk.upload(text)
    await desk.start(there)
    whole = import_rows.import_chunk
    calls: list[None] = []

    def first_only(*args: Any, **kwargs: Any) -> Any:
        calls.append(None)
        if len(calls) > 1:
            raise RuntimeError("the process is stopped here")
        return whole(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(import_rows, "import_chunk", first_only)
        with pytest.raises(RuntimeError):
            await desk.work(there)
    return there


async def test_edits_made_while_an_import_runs_stay(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ada", "ben"):
        person(await desk.add(email=f"{name}@example.org", company="Before"))
    text = "email,company\nada@example.org,File\nben@example.org,File\ncy@example.org,File\n"
    text += (
        "di@example.org,File\nben@example.org,Again\ncy@example.org,Again\ned@example.org,File\n"
    )
    there = await stop_after_first_chunk(desk, monkeypatch, text)
    await edit(desk, "ben@example.org", "By hand")
    await edit(desk, "cy@example.org", "By hand")
    assert (await desk.work(there)).state == "done"
    await desk.undo(there)
    undone = await desk.work(there)
    assert (undone.removed, undone.restored, undone.kept) == (2, 1, 2)
    assert await companies(desk) == {
        "ada@example.org": "Before",
        "ben@example.org": "Again",  # somebody's work is in it: left as it is
        "cy@example.org": "Again",
    }


async def test_rows_of_one_person_in_several_chunks_are_taken_back_whole(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "CHUNK", 2)
    person(await desk.add(email="ada@example.org", company="Before"))
    text = "email,company\nada@example.org,One\nben@example.org,One\nada@example.org,Two\n"
    text += "ben@example.org,Two\nada@example.org,Three\nben@example.org,Three\n"
    done = await desk.do(text)
    await desk.undo(done)
    undone = await desk.work(done)
    assert (undone.removed, undone.restored, undone.kept) == (1, 1, 0)
    assert await companies(desk) == {"ada@example.org": "Before"}


async def test_a_contact_with_a_note_stays(desk: Desk) -> None:
    done = await desk.do("email\nada@example.org\nben@example.org\n")
    (row,) = await desk.rows(
        "SELECT contact_id FROM contact_address WHERE address = 'ada@example.org'"
    )
    await desk.run(
        lambda tx, now: add_note(
            tx, now, workspace_id=HOME, contact_id=row["contact_id"], text="called her", by=ADA
        )
    )
    await desk.undo(done)
    undone = await desk.work(done)
    assert (undone.removed, undone.kept) == (1, 1)
    assert list(await companies(desk)) == ["ada@example.org"]


async def test_a_key_that_somebody_took_since_is_left_to_them(desk: Desk) -> None:
    person(await desk.add(email="ada@example.org", external_id="old"))
    done = await desk.do(
        "email,id\nada@example.org,new\n", mapping={"email": "email", "id": "external_id"}
    )
    person(await desk.add(email="ben@example.org", external_id="old"))
    await desk.undo(done)
    undone = await desk.work(done)
    assert (undone.state, undone.restored, undone.kept) == ("undone", 0, 1)


async def test_an_import_of_channels_is_taken_back(desk: Desk) -> None:
    def known(tx: Any, now: Any) -> Any:
        new = [
            NewChannel(provider="telegram", address="@bakers_berlin", title="Old", category="old"),
            NewChannel(provider="telegram", address="@cy_news", title="Old"),
        ]
        save_channels(tx, now, new, workspace_id=HOME)
        return audiences.create_audience(tx, now, workspace_id=HOME, name="L", by=ADA)

    list_ = await desk.run(known)
    await desk.run(
        lambda tx, now: audiences.add_members(
            tx,
            now,
            workspace_id=HOME,
            audience_id=list_.id,
            members=[Member("channel", "@cy_news", "telegram")],
        )
    )
    done = await desk.do(CHANNELS + "@ben_new,B,\n", kind="channels", audience_id=list_.id)
    assert (done.created, done.updated) == (2, 2)
    by_hand = [
        NewChannel(provider="telegram", address="@Cy_News", title="By hand"),
        NewChannel(provider="telegram", address="@Ada_Talks", category="by hand"),
    ]
    await desk.run(lambda tx, now: save_channels(tx, now, by_hand, workspace_id=HOME))
    await desk.undo(done)
    undone = await desk.work(done)
    assert (undone.state, undone.removed, undone.restored, undone.kept) == ("undone", 1, 1, 2)
    rows = await desk.rows("SELECT id, written, title, category FROM recipient_channel ORDER BY id")
    assert [tuple(row.values()) for row in rows] == [
        ("@ada_talks", "@Ada_Talks", "T", "by hand"),
        ("@bakers_berlin", "@bakers_berlin", "Old", "old"),
        ("@cy_news", "@Cy_News", "By hand", "press"),
    ]
    members = await desk.rows("SELECT member_id FROM audience_member ORDER BY member_id")
    assert [row["member_id"] for row in members] == ["@ada_talks", "@cy_news"]
    assert await desk.rows("SELECT * FROM channel_import_undo") == []


async def test_a_channel_that_failed_since_stays(desk: Desk) -> None:
    done = await desk.do(CHANNELS, kind="channels")
    await desk.run(
        lambda tx, _: tx.run("UPDATE recipient_channel SET error_count = 1 WHERE id = '@cy_news'")
    )
    await desk.undo(done)
    undone = await desk.work(done)
    assert (undone.removed, undone.kept) == (2, 1)
