"""Filters find whom they say, and nobody of another workspace."""

from typing import Any

import pytest

from cadenza.contacts import audiences, fields, find
from cadenza.contacts.audiences import Difference, Member
from cadenza.contacts.filters import Condition
from cadenza.contacts.merge import Merge, merge_contacts
from cadenza.contacts.model import AddressTaken, Invalid
from tests.contacts.conftest import ADA, HOME, NEXT_DOOR, Desk, person


@pytest.fixture
async def crowd(desk: Desk) -> Desk:
    await desk.run(
        lambda tx, now: fields.save_field(
            tx, now, workspace_id=HOME, key="age", label="Age", kind="number", by=ADA
        )
    )
    for n in range(60):
        await desk.add(
            email=f"p{n}@example{n % 2}.org",
            first_name=("Ada", "Ben", "Cy")[n % 3],
            last_name=f"Last{n}",
            company=f"Firm {n % 5}",
            country=("DE", "FR")[n % 2],
            tags=["even"] if n % 2 == 0 else ["odd"],
            fields={"age": n},
        )
    await desk.add(home=NEXT_DOOR, email="p1@example1.org", first_name="Ada", tags=["even"])
    return desk


async def names(desk: Desk, *conditions: Condition, limit: int = 50) -> list[str]:
    found: Any = await desk.read(
        lambda tx, _: find.list_contacts(tx, workspace_id=HOME, conditions=conditions, limit=limit)
    )
    count = await desk.read(
        lambda tx, _: find.count_contacts(tx, workspace_id=HOME, conditions=conditions)
    )
    assert count >= len(found.contacts)
    return [each.last_name for each in found.contacts]


@pytest.mark.parametrize("few", [0, 2_000], ids=["walked", "looked up"])
async def test_conditions_find_whom_they_say(
    crowd: Desk, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(find, "FEW", few)
    monkeypatch.setattr(find, "WINDOWS", (7, 20, 1000))
    assert len(await names(crowd)) == 50
    assert await names(crowd, limit=3) == ["Last59", "Last58", "Last57"]
    assert len(await names(crowd, Condition("tag", "is", "Even"))) == 30
    assert len(await names(crowd, Condition("tag", "is_not", "even"))) == 30
    assert len(await names(crowd, Condition("search", "is", "ADA"))) == 20
    assert await names(crowd, Condition("search", "is", "p17@")) == ["Last17"]
    assert len(await names(crowd, Condition("search", "is", "@example1.org"))) == 30
    assert await names(crowd, Condition("search", "is", "ben last4")) == [
        "Last49",
        "Last46",
        "Last43",
        "Last40",
        "Last4",
    ]
    assert await names(crowd, Condition("age", "at_least", 58)) == ["Last59", "Last58"]
    both = (Condition("country", "is", "fr"), Condition("fields.age", "at_most", 3))
    assert await names(crowd, *both) == ["Last3", "Last1"]
    assert await names(crowd, Condition("created", "at_most", "2001-01-01")) == []
    assert len(await names(crowd, Condition("channel", "is", "email"))) == 50


async def test_pages_go_on_behind_each_other(crowd: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "FEW", 0)
    monkeypatch.setattr(find, "WINDOWS", (3, 5))
    seen: list[str] = []
    after: str | None = None
    while True:
        page: Any = await crowd.read(
            lambda tx, _, after=after: find.list_contacts(
                tx,
                workspace_id=HOME,
                conditions=(Condition("age", "at_most", 40), Condition("tag", "is", "odd")),
                after=after,
                limit=4,
            )
        )
        seen += [each.last_name for each in page.contacts]
        after = page.next
        if after is None:
            break
    assert seen == [f"Last{n}" for n in range(39, 0, -2)]


@pytest.mark.parametrize(
    "condition",
    [
        Condition("agee", "is", 1),
        Condition("age", "begins", 1),
        Condition("age", "is", "old"),
        Condition("tag", "begins", "x"),
        Condition("created", "at_least", "yesterday"),
        Condition("consent", "is", "perhaps"),
        Condition("search; DROP TABLE contact", "is", "x"),
    ],
)
async def test_what_is_not_known_is_refused(crowd: Desk, condition: Condition) -> None:
    found = await crowd.read(
        lambda tx, _: find.list_contacts(tx, workspace_id=HOME, conditions=(condition,))
    )
    assert isinstance(found, Invalid)


async def test_audiences_differ(crowd: Desk) -> None:
    def make(tx: Any, now: Any) -> Any:
        odd = audiences.create_audience(
            tx,
            now,
            workspace_id=HOME,
            name="Odd",
            by=ADA,
            conditions=(Condition("tag", "is", "odd"),),
        )
        old = audiences.create_audience(
            tx,
            now,
            workspace_id=HOME,
            name="Old",
            by=ADA,
            conditions=(Condition("age", "at_least", 50),),
        )
        listed = audiences.create_audience(tx, now, workspace_id=HOME, name="List", by=ADA)
        assert isinstance(odd, audiences.Audience)
        assert isinstance(old, audiences.Audience)
        assert isinstance(listed, audiences.Audience)
        walked: Any = audiences.walk_members(tx, workspace_id=HOME, audience_id=old.id)
        strangers = [Member("contact", "nobody")]
        added: Any = audiences.add_members(
            tx,
            now,
            workspace_id=HOME,
            audience_id=listed.id,
            members=[*reversed(walked[0]), *strangers],
        )
        assert (added.changed, added.unknown) == (10, tuple(strangers))
        order: Any = audiences.walk_members(tx, workspace_id=HOME, audience_id=listed.id)
        assert order[0] == list(reversed(walked[0]))
        assert (odd.size, old.size) == (30, 10)
        return [
            audiences.compare_audiences(tx, workspace_id=HOME, here_id=a, there_id=b)
            for a, b in ((odd.id, old.id), (listed.id, old.id), (listed.id, odd.id))
        ]

    assert await crowd.run(make) == [
        Difference(25, 5, 5),
        Difference(0, 0, 10),
        Difference(5, 25, 5),
    ]


async def test_a_merge_is_what_its_preview_said(desk: Desk) -> None:
    ada = person(await desk.add(email="ada@example.org", first_name="Ada", tags=["a"]))
    twin = person(
        await desk.add(
            addresses=[("telegram", "@ada_l")],
            first_name="A.",
            company="Engines",
            consent="refused",
        )
    )
    assert isinstance(await desk.add(email="ADA@example.org"), AddressTaken)
    about: dict[str, Any] = {
        "workspace_id": HOME,
        "keep_id": ada.id,
        "other_ids": [twin.id],
        "by": ADA,
    }
    shown = await desk.run(lambda tx, now: merge_contacts(tx, now, **about, preview=True))
    assert len(await desk.rows("SELECT id FROM contact")) == 2
    done = await desk.run(lambda tx, now: merge_contacts(tx, now, **about))
    assert isinstance(shown, Merge)
    assert isinstance(done, Merge)
    assert shown.dropped == done.dropped
    assert [(each.field, each.dropped) for each in done.dropped] == [("first_name", "A.")]
    found: Any = await desk.read(lambda tx, _: find.find_contact(tx, HOME, twin.id))
    assert (found.id, found.company, found.consent) == (ada.id, "Engines", "refused")
    assert [each.channel for each in found.addresses] == ["email", "telegram"]
