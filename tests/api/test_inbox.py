"""The inbox: a team reads, labels, assigns, answers and closes conversations, on both databases."""

import json
from datetime import datetime
from typing import Any

from cadenza.inbox.listeners import InboundKind
from cadenza.inbox.model import Inbound
from cadenza.inbox.record import record_inbound
from cadenza.sql.tx import Tx
from tests.api.conftest import Place

INBOX = "/api/v1/workspaces/home-of-ada/inbox"


async def come_in(place: Place, **said: Any) -> None:
    """Let a mail from Cy come in at Ada's mailbox."""
    settings = '{"from_address":"ada@example.org"}'

    def operation(tx: Tx, now: datetime) -> None:
        tx.run(
            "UPDATE account SET provider = 'smtp', settings = :settings WHERE id = 'account-of-ada'",
            settings=settings,
        )
        inbound = Inbound(
            **{
                "workspace_id": "home-of-ada",
                "account_id": "account-of-ada",
                "remote_id": "<in@example.net>",
                "kind": InboundKind.REPLY,
                "source": "imap",
                "at": now,
                "address": "Cy@example.net",
                "name": "Cy",
                "message_id": "<in@example.net>",
                "answers_to": ("<two@example.org>", "<one@example.org>"),
                "subject": "An offer",
                "text": "Tell me more",
                **said,
            }
        )
        record_inbound(tx, now, inbound)

    await place.runtime.operations.run(operation)


async def only(place: Place, **query: str) -> dict[str, Any]:
    owner = await place.client("owner")
    (one,) = (await owner.get(INBOX, params=query)).json()["items"]
    return one


async def test_a_conversation_is_labelled_assigned_and_closed_and_a_reply_opens_it(
    place: Place,
) -> None:
    await come_in(place)
    editor = await place.client("editor")
    one = await only(place, state="open")
    assert (one["address"], one["subject"], one["last_kind"]) == (
        *("cy@example.net", "An offer", "reply"),
    )
    change = {"label": "interested", "assignee": place.ids["editor.member"], "state": "done"}
    answer = await editor.patch(f"{INBOX}/{one['id']}", json=change)
    assert answer.status_code == 200, answer.text
    assert {name: answer.json()[name] for name in change} == change
    assert (await editor.get(INBOX, params={"state": "open"})).json()["items"] == []
    assert (await only(place, label="interested", assignee=change["assignee"]))["id"] == one["id"]
    await come_in(place, remote_id="<again@example.net>", text="Still there?")
    again = await only(place, state="open")
    assert (again["id"], again["label"], again["last_text"]) == (
        *(one["id"], "interested", "Still there?"),
    )
    taken = await editor.patch(f"{INBOX}/{one['id']}", json={"label": None})
    assert taken.json()["label"] is None
    assert taken.json()["assignee"] == change["assignee"]


async def test_an_assignee_must_belong_to_the_workspace(small: Place) -> None:
    await come_in(small)
    editor = await small.client("editor")
    one = await only(small)
    answer = await editor.patch(f"{INBOX}/{one['id']}", json={"assignee": small.ids["ben.member"]})
    assert answer.status_code == 422
    assert "no_member" in answer.text


async def test_an_answer_is_a_mail_in_the_same_thread_by_the_same_account(place: Place) -> None:
    await come_in(place)
    editor = await place.client("editor")
    one = await only(place)
    answer = await editor.post(
        f"{INBOX}/{one['id']}/reply", json={"text": "Gladly, Cy.", "close": True}
    )
    assert answer.status_code == 201, answer.text
    (row,) = await place.rows(
        "SELECT * FROM delivery WHERE id = :id", id=answer.json()["delivery_id"]
    )
    assert (row["account_id"], row["recipient"], row["action"]) == (
        *("account-of-ada", "Cy@example.net", "email"),
    )
    content = json.loads(row["content"])
    assert content["subject"] == "Re: An offer"
    assert content["options"] == {
        "in_reply_to": "<in@example.net>",
        "references": "<one@example.org> <two@example.org> <in@example.net>",
    }
    thread = (await editor.get(f"{INBOX}/{one['id']}")).json()
    assert [each["text"] for each in thread["received"]] == ["Tell me more"]
    assert [each["text"] for each in thread["sent"]] == ["Gladly, Cy."]
    assert thread["sent"][0]["written_by"].startswith("member:")
    assert thread["conversation"]["state"] == "done"


async def test_who_asked_us_to_stop_is_not_answered(small: Place) -> None:
    await come_in(small, text="Please unsubscribe me", kind=InboundKind.REPLY)
    editor = await small.client("editor")
    body = {"kind": "address", "value": "cy@example.net", "reason": "unsubscribe"}
    await editor.post("/api/v1/workspaces/home-of-ada/suppression", json=body)
    one = await only(small)
    answer = await editor.post(f"{INBOX}/{one['id']}/reply", json={"text": "But…"})
    assert answer.status_code == 409, answer.text
    assert "suppressed" in answer.text
    rows = await small.rows("SELECT id FROM delivery WHERE recipient IS NOT NULL")
    assert rows == []


async def test_nobody_can_answer_a_message_without_a_sender(small: Place) -> None:
    await come_in(small, address=None, kind=InboundKind.UNKNOWN)
    editor = await small.client("editor")
    one = await only(small)
    answer = await editor.post(f"{INBOX}/{one['id']}/reply", json={"text": "Who are you?"})
    assert answer.status_code == 409
    assert "no_address" in answer.text


async def test_a_dry_run_of_an_answer_sends_nothing(small: Place) -> None:
    await come_in(small)
    editor = await small.client("editor")
    one = await only(small)
    path = f"{INBOX}/{one['id']}/reply"
    answer = await editor.post(path, params={"dry_run": "true"}, json={"text": "Gladly"})
    assert answer.json()["dry_run"]
    assert await small.rows("SELECT id FROM delivery WHERE recipient IS NOT NULL") == []


async def test_what_came_back_is_counted_by_account(small: Place) -> None:
    await come_in(small)
    await come_in(small, remote_id="<c>", kind=InboundKind.COMPLAINT, trusted=True)
    viewer = await small.client("viewer")
    (one,) = (await viewer.get(f"{INBOX}/accounts")).json()
    assert (one["account_id"], one["replies"], one["complaints"]) == ("account-of-ada", 1, 1)
