"""Outreach as a program meets it: over HTTP, with the job and the pipeline behind it."""

from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cadenza.bootstrap.plan_sequences import plan_sequences
from tests.api.conftest import Place, open_place
from tests.outreach.conftest import Office

HOME = "home-of-ada"
AT = f"/api/v1/workspaces/{HOME}"


class Desk:
    """An editor's browser, and the worker behind it."""

    def __init__(self, place: Place, browser: httpx2.AsyncClient) -> None:
        self.place = place
        self.browser = browser
        self.office = Office(place.runtime)

    async def ask(self, method: str, path: str, expected: int = 200, **body: Any) -> Any:
        said = body or ({} if method in ("POST", "PATCH") else None)
        answer = await self.browser.request(method, f"{AT}{path}", json=said)
        assert answer.status_code == expected, answer.text
        return answer.json()

    async def work(self) -> None:
        await plan_sequences(self.place.runtime, {})

    async def template(self, name: str) -> str:
        made = await self.ask(
            "POST", "/templates", 201, name=name, subject=f"{name} {{{{first_name}}}}", body="Hi"
        )
        return made["id"]

    async def contact(self, name: str) -> str:
        addresses = [{"channel": "email", "address": f"{name}@example.org"}]
        made = await self.ask("POST", "/contacts", 201, first_name=name, addresses=addresses)
        return made["id"]


@pytest.fixture
async def desk(database: str, tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_place(database, tmp_path) as place:
        desk = Desk(place, await place.client("editor"))
        await desk.office.account("mailbox", always=True)
        yield desk


async def test_a_sequence_from_draft_to_report(desk: Desk) -> None:
    hello = await desk.template("Hello")
    steps = [
        {"variants": [{"template_id": hello}]},
        {"variants": [{"template_id": hello}], "wait_days": 1, "same_thread": True},
    ]
    made = await desk.ask(
        "POST", "/sequences", 201, name="Autumn", steps=steps, account_ids=["mailbox"]
    )
    people = [await desk.contact(name) for name in ("ada", "ben", "cy")]
    path = f"/sequences/{made['id']}"
    added = await desk.ask("POST", f"{path}/contacts", contact_ids=[*people, people[0], "nobody"])
    assert (added["added"], added["unknown"]) == (3, ["nobody"])
    shown = await desk.ask("GET", f"{path}/plan")
    assert (shown["messages"], shown["without_time"]) == (3, 0)
    assert sum(day["expected"] for day in shown["days"]) == 3  # follow-ups, as an estimate
    assert (await desk.ask("POST", f"{path}/start"))["state"] == "running"
    await desk.work()
    report = await desk.ask("GET", f"{path}/report")
    assert report["people"]["planned"] == 3
    await desk.office.make_due()
    assert await desk.office.send_due() == [people[0]]  # one, and then the gap
    report = await desk.ask("GET", f"{path}/report")
    assert [(line["step"], line["sent"], line["waiting"]) for line in report["lines"]] == [
        (0, 1, 2)
    ]
    await desk.work()
    report = await desk.ask("GET", f"{path}/report")
    assert [(line["step"], line["sent"], line["waiting"]) for line in report["lines"]] == [
        (0, 1, 2),
        (1, 0, 1),
    ]


async def test_ready_made_messages_are_planned_and_sent_as_they_are(desk: Desk) -> None:
    made = await desk.ask("POST", "/sequences", 201, name="By hand", account_ids=["mailbox"])
    ada = await desk.contact("ada")
    path = f"/sequences/{made['id']}"
    said = [{"contact_id": ada, "subject": "Your bakery", "text": "I like your bread."}]
    await desk.ask("POST", f"{path}/messages", messages=said)
    await desk.ask("POST", f"{path}/start")
    await desk.work()
    await desk.office.make_due()
    (ticket,) = await desk.office.claim()
    assert '"I like your bread."' in ticket.delivery.content
    assert ticket.delivery.recipient == "ada@example.org"


async def test_pausing_one_person_lets_the_others_go_on_and_resuming_plans_again(
    desk: Desk,
) -> None:
    hello = await desk.template("Hello")
    steps = [{"variants": [{"template_id": hello}]}]
    made = await desk.ask(
        "POST", "/sequences", 201, name="Autumn", steps=steps, account_ids=["mailbox"]
    )
    ada, ben = await desk.contact("ada"), await desk.contact("ben")
    path = f"/sequences/{made['id']}"
    await desk.ask("POST", f"{path}/contacts", contact_ids=[ada, ben])
    await desk.ask("POST", f"{path}/start")
    await desk.work()
    paused = await desk.ask("POST", f"{path}/contacts/{ada}/pause")
    assert paused["state"] == "paused"
    await desk.office.make_due()
    assert await desk.office.send_due() == [ben]
    await desk.ask("POST", f"{path}/contacts/{ada}/resume")
    await desk.work()
    assert (await desk.ask("GET", f"{path}/contacts/{ada}"))["state"] == "planned"
    await desk.office.make_due()
    assert await desk.office.send_due() == [ada]
    states = await desk.ask("GET", f"{path}/contacts?state=finished")
    assert len(states["items"]) == 2


async def test_a_paused_sequence_sends_nothing_and_goes_on_without_a_burst(desk: Desk) -> None:
    hello = await desk.template("Hello")
    steps = [{"variants": [{"template_id": hello}]}]
    made = await desk.ask(
        "POST", "/sequences", 201, name="Autumn", steps=steps, account_ids=["mailbox"]
    )
    people = [await desk.contact(name) for name in ("ada", "ben", "cy")]
    path = f"/sequences/{made['id']}"
    await desk.ask("POST", f"{path}/contacts", contact_ids=people)
    await desk.ask("POST", f"{path}/start")
    await desk.work()
    await desk.ask("POST", f"{path}/pause", reason="holidays")
    await desk.office.make_due()
    assert await desk.office.claim() == []
    await desk.ask("POST", f"{path}/resume")
    rows = await desk.office.deliveries()
    dues = [row["due_at"] for row in rows]
    assert all((b - a).total_seconds() >= 360 for a, b in pairwise(dues))


async def test_an_ended_sequence_cancels_what_waits_and_keeps_its_history(desk: Desk) -> None:
    hello = await desk.template("Hello")
    steps = [{"variants": [{"template_id": hello}]}]
    made = await desk.ask(
        "POST", "/sequences", 201, name="Autumn", steps=steps, account_ids=["mailbox"]
    )
    people = [await desk.contact(name) for name in ("ada", "ben")]
    path = f"/sequences/{made['id']}"
    await desk.ask("POST", f"{path}/contacts", contact_ids=people)
    await desk.ask("POST", f"{path}/start")
    await desk.work()
    await desk.office.make_due()
    await desk.office.send_due()
    await desk.ask("POST", f"{path}/end")
    await desk.office.work(await desk.office.by_id(made["id"]))
    states = sorted(row["state"] for row in await desk.office.deliveries())
    assert states == ["canceled", "sent"]
    await desk.ask("DELETE", path, 409)
    report = await desk.ask("GET", f"{path}/report")
    assert report["stopped"] == {"ended": 1}


async def test_a_key_of_some_accounts_does_not_see_sequences_of_others(desk: Desk) -> None:
    made = await desk.ask("POST", "/sequences", 201, name="Autumn", account_ids=["mailbox"])
    owner = await desk.place.client("owner")
    key = await owner.post(
        f"{AT}/keys",
        json={"name": "k", "scopes": ["sequences:read"], "accounts": ["account-of-ada"]},
    )
    assert key.status_code == 201, key.text
    program = await desk.place.client(None, authorization=f"Bearer {key.json()['key']}")
    assert (await program.get(f"{AT}/sequences")).json() == []
    assert (await program.get(f"{AT}/sequences/{made['id']}")).status_code == 404
