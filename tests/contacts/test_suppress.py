"""Suppressions: one spelling, one row a reason, logged removal, CSV; no permit once one is committed."""

import json
from typing import Any

import pytest

from cadenza.contacts import suppress as suppressions
from cadenza.contacts.model import Invalid
from cadenza.contacts.suppress import (
    NewSuppression,
    Suppressed,
    SuppressionKind,
    SuppressionReason,
    read_suppression,
)
from cadenza.contacts.suppression_file import read_file, write_file
from tests.contacts.conftest import ADA, HOME, NEXT_DOOR, Desk


def read(kind: SuppressionKind, text: str, **said: Any) -> NewSuppression:
    found = read_suppression(kind, text, **said)
    assert isinstance(found, NewSuppression), found
    return found


async def add(desk: Desk, *new: NewSuppression, home: str = HOME) -> Suppressed:
    return await desk.run(
        lambda tx, now: suppressions.suppress(tx, now, new, workspace_id=home, by=ADA)
    )


async def listed(desk: Desk, **asked: Any) -> list[str]:
    found = await desk.read(
        lambda tx, _: suppressions.list_suppressions(tx, workspace_id=HOME, **asked)
    )
    return [each.value for each in found]


@pytest.mark.parametrize(
    ("kind", "text", "channel", "value"),
    [
        (SuppressionKind.ADDRESS, " Ben@Example.ORG ", "all", "ben@example.org"),
        (SuppressionKind.ADDRESS, "ben@example.org", "email", "ben@example.org"),
        (SuppressionKind.DOMAIN, "@Example.org", "all", "example.org"),
        (SuppressionKind.HANDLE, "https://t.me/Ben_B", "telegram", "ben_b"),
        (SuppressionKind.HANDLE, "@Ben", "all", "ben"),
        (SuppressionKind.HANDLE, "-100123", "telegram", "-100123"),
        (SuppressionKind.HANDLE, "linkedin.com/in/Ben-B", "linkedin", "ben-b"),
    ],
)
def test_values_have_one_spelling(
    kind: SuppressionKind, text: str, channel: str, value: str
) -> None:
    assert read(kind, text, channel=channel).value == value


@pytest.mark.parametrize(
    ("kind", "text", "channel", "column"),
    [
        (SuppressionKind.ADDRESS, "ben", "all", "value"),
        (SuppressionKind.ADDRESS, "ben@example.org", "telegram", "channel"),
        (SuppressionKind.DOMAIN, "no domain", "all", "value"),
        (SuppressionKind.HANDLE, "ben", "email", "kind"),
        (SuppressionKind.HANDLE, "@", "all", "value"),
        (SuppressionKind.HANDLE, "ben", "No Channel", "channel"),
    ],
)
def test_what_cannot_be_one_is_refused(
    kind: SuppressionKind, text: str, channel: str, column: str
) -> None:
    found = read_suppression(kind, text, channel=channel)
    assert isinstance(found, Invalid)
    assert found.column == column


async def test_each_reason_has_a_row_and_repeating_adds_none(desk: Desk) -> None:
    ben = read(SuppressionKind.ADDRESS, "ben@example.org", reason=SuppressionReason.UNSUBSCRIBE)
    bounced = read(SuppressionKind.ADDRESS, "ben@example.org", reason=SuppressionReason.HARD_BOUNCE)
    assert (await add(desk, ben, ben)).added == (ben,)
    again = await add(desk, ben, bounced)
    assert (again.added, again.there_already) == ((bounced,), 1)
    assert await listed(desk) == ["ben@example.org"] * 2
    assert await desk.rows("SELECT 1 FROM audit WHERE action = 'suppression.add'") != []


async def test_a_removal_is_logged_with_who_and_why(desk: Desk) -> None:
    ben = read(SuppressionKind.ADDRESS, "ben@example.org", reason=SuppressionReason.UNSUBSCRIBE)
    await add(
        desk,
        ben,
        read(SuppressionKind.ADDRESS, "ben@example.org", reason=SuppressionReason.COMPLAINT),
    )
    await add(desk, ben, home=NEXT_DOOR)

    async def remove(reason: SuppressionReason | None = None) -> int:
        return await desk.run(
            lambda tx, now: suppressions.remove_suppression(
                tx, now, workspace_id=HOME, new=ben, by=ADA, why="he asked", reason=reason
            )
        )

    assert await remove(SuppressionReason.UNSUBSCRIBE) == 1
    assert await listed(desk) == ["ben@example.org"]
    assert await remove() == 1
    assert await remove() == 0
    rows = await desk.rows("SELECT * FROM audit WHERE action = 'suppression.remove' ORDER BY id")
    assert [row["actor"] for row in rows] == [ADA, ADA]
    assert [json.loads(row["before"])["reason"] for row in rows] == ["unsubscribe", "complaint"]
    assert json.loads(rows[0]["after"]) == {"why": "he asked"}
    left = await desk.rows("SELECT workspace_id FROM suppression")
    assert left == [{"workspace_id": NEXT_DOOR}]


async def test_lists_are_filtered_and_paged(desk: Desk) -> None:
    await add(desk, *(read(SuppressionKind.ADDRESS, f"a{n}@example.org") for n in range(5)))
    await add(
        desk,
        read(
            SuppressionKind.HANDLE,
            "@ben_b",
            channel="telegram",
            reason=SuppressionReason.UNSUBSCRIBE,
        ),
    )
    await add(desk, read(SuppressionKind.DOMAIN, "example.net"))
    assert await listed(desk, kind=SuppressionKind.DOMAIN) == ["example.net"]
    assert await listed(desk, channel="telegram", reason=SuppressionReason.UNSUBSCRIBE) == ["ben_b"]
    assert await listed(desk, starts="A3@") == ["a3@example.org"]
    seen: list[str] = []
    after: Any = None
    while True:
        page = await desk.read(
            lambda tx, _, after=after: suppressions.list_suppressions(
                tx, workspace_id=HOME, after=after, limit=2
            )
        )
        if not page:
            break
        seen += [each.value for each in page]
        after = suppressions.read_place(*suppressions.place_of(page[-1]))
    assert len(seen) == len(set(seen)) == 7
    assert seen[:2] == ["example.net", "ben_b"]


async def test_what_is_exported_can_be_imported(desk: Desk) -> None:
    await add(
        desk,
        read(
            SuppressionKind.ADDRESS,
            "ben@example.org",
            reason=SuppressionReason.COMPLAINT,
            note="=1+1",
        ),
        read(SuppressionKind.HANDLE, "-100123", channel="telegram"),
    )
    rows = await desk.read(lambda tx, _: suppressions.list_suppressions(tx, workspace_id=HOME))
    text = write_file(rows)
    assert "'=1+1" in text
    back = read_file(text)
    assert not isinstance(back, Invalid)
    assert back.refused == ()
    assert (await add(desk, *back.rows)).added == ()


def test_a_file_says_which_lines_are_wrong() -> None:
    plain = read_file("ben@example.org\ncy@example.org\n")
    assert not isinstance(plain, Invalid)
    assert [each.value for each in plain.rows] == ["ben@example.org", "cy@example.org"]
    mixed = read_file("Email,reason\nben@example.org,complaint\nnobody,\ncy@example.org,bored\n")
    assert not isinstance(mixed, Invalid)
    assert [each.reason for each in mixed.rows] == [SuppressionReason.COMPLAINT]
    assert [(each.line, each.column) for each in mixed.refused] == [(3, "kind"), (4, "reason")]
    assert isinstance(read_file("name,age\nBen,7\n"), Invalid)
