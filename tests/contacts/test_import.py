"""Files of contacts become contacts, once each, whatever happens on the way."""

import io
from datetime import timedelta
from typing import Any

import pytest

from cadenza.bootstrap import import_contacts as job
from cadenza.contacts import audiences, fields, import_rows, imports
from cadenza.contacts.imports import Import, NotNow
from cadenza.contacts.model import ContactForm, Invalid
from cadenza.contacts.save import change_contact
from tests.contacts.conftest import ADA, HOME, Desk, person

MESSY = """\ufeffE-Mail;First Name;Surname;Firma;Land;Tags;Age;Nothing
Ada@Example.org;Ada;Lovelace;Engines;united kingdom;vip, math;36;x
bad address;Ben;;;;;;
info@example.org;;;Engines;DE;;;
cy@mailinator.com;Cy;;;;;;
ada@example.ORG;Ada;Byron;;;friend;;
;;;;;;;
ben@example.org;Ben;"Quo
ted";Firm;Mars;;;
ben@example.org;Ben;B;Firm;FR;;abc;
"""


async def with_age(desk: Desk) -> None:
    await desk.run(
        lambda tx, now: fields.save_field(
            tx, now, workspace_id=HOME, key="age", label="Age", kind="number", by=ADA
        )
    )


async def test_a_messy_file_is_imported_row_by_row(desk: Desk) -> None:
    await with_age(desk)
    there = await desk.upload(MESSY)
    assert there.suggested == {
        "E-Mail": "email",
        "First Name": "first_name",
        "Surname": "last_name",
        "Firma": "company",
        "Land": "country",
        "Tags": "tags",
        "Age": "fields.age",
        "Nothing": "",
    }
    assert isinstance(await desk.start(there), Import)
    done = await desk.work(there)
    assert (done.state, done.percent) == ("done", 100)
    assert (done.created, done.updated, done.refused, done.flagged) == (3, 1, 3, 2)
    rows = {row["row_number"]: (row["verdict"], row["code"]) for row in await desk.report(done)}
    assert rows == {
        3: ("refused", "bad_address"),
        4: ("created", "role"),
        5: ("created", "disposable"),
        6: ("updated", "duplicate_row"),
        8: ("refused", "unknown_country"),
        9: ("refused", "not_a_number"),
    }
    (ada,) = await desk.rows(
        "SELECT * FROM contact WHERE workspace_id = :home AND first_name = 'Ada'", home=HOME
    )
    assert (ada["last_name"], ada["country"], ada["zone"]) == ("Byron", "GB", "Europe/London")
    assert ada["fields"] == '{"age":36}'
    tags = await desk.rows("SELECT tag FROM contact_tag WHERE contact_id = :id", id=ada["id"])
    assert sorted(row["tag"] for row in tags) == ["friend", "math", "vip"]
    events = await desk.rows("SELECT kind FROM outbox WHERE workspace_id = :home", home=HOME)
    assert [row["kind"] for row in events] == ["import.done"]


async def test_a_dry_run_says_the_same_and_changes_nothing(desk: Desk) -> None:
    await with_age(desk)
    there = await desk.upload(MESSY)
    await desk.start(there, dry_run=True)
    tried = await desk.work(there)
    assert tried.state == "tried"
    assert await desk.rows("SELECT id FROM contact") == []
    verdicts = [row["verdict"] for row in await desk.report(tried)]
    assert isinstance(await desk.start(there), Import)
    done = await desk.work(there)
    assert (tried.created, tried.updated, tried.refused) == (
        done.created,
        done.updated,
        done.refused,
    )
    assert verdicts.count("created") == done.created


async def test_importing_again_changes_nothing(desk: Desk) -> None:
    await with_age(desk)
    first = await desk.do(MESSY)
    again = await desk.do(MESSY)
    assert (again.created, first.created) == (0, 3)
    assert len(await desk.rows("SELECT id FROM contact")) == 3


async def test_columns_are_remembered(desk: Desk) -> None:
    text = "Wohin,Wer\nada@example.org,Ada\n"
    there = await desk.upload(text)
    assert there.suggested == {"Wohin": "", "Wer": ""}
    wrong = await desk.start(there)
    assert isinstance(wrong, Invalid)
    assert wrong.code == "no_key"
    await desk.do(text, mapping={"Wohin": "email", "Wer": "first_name"})
    assert (await desk.upload(text)).suggested == {"Wohin": "email", "Wer": "first_name"}


@pytest.mark.parametrize(
    ("existing", "company", "last"),
    [("update", "New", "L"), ("fill", "Old", "L"), ("skip", "Old", "")],
)
async def test_existing_contacts_are_treated_as_chosen(
    desk: Desk, existing: str, company: str, last: str
) -> None:
    made = person(await desk.add(email="ada@example.org", company="Old"))
    await desk.do("email,company,last name\nada@example.org,New,L\n", existing=existing)
    (row,) = await desk.rows("SELECT * FROM contact WHERE id = :id", id=made.id)
    assert (row["company"], row["last_name"]) == (company, last)


async def test_a_row_that_fits_two_contacts_is_refused(desk: Desk) -> None:
    await desk.add(email="ada@example.org")
    await desk.add(addresses=[("telegram", "@ada_l")])
    done = await desk.do("email,telegram\nada@example.org,t.me/Ada_L\n")
    (row,) = await desk.report(done)
    assert (row["verdict"], row["code"]) == ("refused", "matches_two")


async def test_a_run_that_is_cut_short_goes_on_without_a_double(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "CHUNK", 10)
    text = "email,tags\n" + "".join(f"p{n}@example.org,t{n % 3}\n" for n in range(100))
    there = await desk.upload(text)
    await desk.start(there)
    wrote = import_rows.import_chunk
    calls = 0

    def breaks(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise RuntimeError("power is gone")
        return wrote(*args, **kwargs)

    monkeypatch.setattr(import_rows, "import_chunk", breaks)
    with pytest.raises(RuntimeError):
        await desk.work(there)
    half = await desk.found(there)
    assert (half.state, half.created, half.percent > 0) == ("running", 40, True)
    done = await desk.work(there)
    assert (done.state, done.created, done.unchanged) == ("done", 100, 0)
    assert len(await desk.rows("SELECT id FROM contact")) == 100


async def test_two_runs_of_one_import_do_not_both_write(desk: Desk) -> None:
    import asyncio

    text = "email\n" + "".join(f"p{n}@example.org\n" for n in range(50))
    there = await desk.upload(text)
    await desk.start(there)
    await asyncio.gather(desk.work(there), desk.work(there))
    done = await desk.found(there)
    assert (done.created, done.unchanged) == (50, 0)


async def test_starting_enqueues_in_the_same_transaction(desk: Desk) -> None:
    there = await desk.upload("email\nada@example.org\n")
    await desk.start(there)
    (found,) = await desk.runtime.engine.find(task="import_contacts")
    assert there.id in found.payload
    assert isinstance(await desk.start(there), NotNow)


async def test_undo_removes_and_restores(desk: Desk) -> None:
    old = person(await desk.add(email="old@example.org", company="Old", tags=["was"]))
    other = person(await desk.add(email="other@example.org"))
    list_ = await desk.run(
        lambda tx, now: audiences.create_audience(tx, now, workspace_id=HOME, name="L", by=ADA)
    )
    text = "email,company,tags\nold@example.org,New,now\nnew@example.org,N,\nkeep@example.org,K,\n"
    text += "other@example.org,,\n"
    done = await desk.do(text, audience_id=list_.id)
    (keep,) = await desk.rows("SELECT id FROM contact WHERE company = 'K'")
    await desk.run(
        lambda tx, now: change_contact(
            tx, now, ContactForm(company="Kept"), workspace_id=HOME, contact_id=keep["id"], by=ADA
        )
    )
    assert isinstance(await desk.undo(done), Import)
    undone = await desk.work(done)
    assert undone.state == "undone"
    assert (undone.removed, undone.restored, undone.kept) == (1, 2, 1)
    rows = await desk.rows("SELECT id, company FROM contact ORDER BY id")
    assert {row["id"]: row["company"] for row in rows} == {
        old.id: "Old",
        other.id: "",
        keep["id"]: "Kept",
    }
    tags = await desk.rows("SELECT tag FROM contact_tag WHERE contact_id = :id", id=old.id)
    assert [row["tag"] for row in tags] == ["was"]
    found = await desk.read(lambda tx, _: audiences.find_audience(tx, HOME, list_.id))
    members = await desk.rows("SELECT member_id FROM audience_member")
    assert found.size == len(members) == 1


async def test_undo_ends_after_a_day(desk: Desk) -> None:
    done = await desk.do("email\nada@example.org\n")
    assert done.finished_at is not None
    assert done.undo_until == done.finished_at + timedelta(days=1)
    await desk.run(lambda tx, now: tx.run("UPDATE contact_import SET undo_until = :now", now=now))
    assert isinstance(await desk.undo(done), imports.UndoOver)


async def test_a_spreadsheet_is_imported_alike(desk: Desk) -> None:
    from datetime import date

    from openpyxl import Workbook

    await with_age(desk)
    book = Workbook()
    sheet: Any = book.active
    sheet.append(["Email", "First name", "Age", "Consent date", "Consent"])
    sheet.append(["ada@example.org", "Ada", 36, date(2026, 1, 2), "yes"])
    sheet.append(["ben@example.org", "'=1+1", 7.0, None, None])
    out = io.BytesIO()
    book.save(out)
    done = await desk.do(out.getvalue(), format_="xlsx")
    assert (done.state, done.created, done.refused) == ("done", 2, 0)
    rows = await desk.rows("SELECT first_name, consent, fields FROM contact ORDER BY first_name")
    assert [(row["first_name"], row["consent"], row["fields"]) for row in rows] == [
        ("=1+1", "unknown", '{"age":7}'),
        ("Ada", "given", '{"age":36}'),
    ]


async def test_recipient_channels_are_imported_and_taken_back(desk: Desk) -> None:
    text = "username,category\n@Bakers_Berlin,food\nt.me/bakers_berlin,food\n-1001234,news\n!!,x\n"
    done = await desk.do(text, kind="channels")
    assert (done.created, done.unchanged, done.refused) == (2, 1, 1)
    rows = await desk.rows("SELECT provider, id, category FROM recipient_channel ORDER BY id")
    assert [(row["id"], row["category"]) for row in rows] == [
        ("-1001234", "news"),
        ("@bakers_berlin", "food"),
    ]
    await desk.undo(done)
    assert (await desk.work(done)).removed == 2
    assert await desk.rows("SELECT id FROM recipient_channel") == []
