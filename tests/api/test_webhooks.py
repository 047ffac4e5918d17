"""A webhook's secret is changed without a message that the receiver cannot check."""

from datetime import UTC, datetime
from typing import Any

from cadenza.notices.call_webhook import sign
from cadenza.notices.preferences import webhook_row
from cadenza.providers.http.redact import Secret
from tests.api.conftest import Place

HOOKS = "/api/v1/workspaces/home-of-ada/webhooks"
AT = datetime(2026, 3, 1, tzinfo=UTC)


async def signatures(place: Place, id_: str) -> list[str]:
    """What a message is signed with now, as the dispatcher does it."""
    row = await place.row("SELECT * FROM webhook WHERE id = :id", id=id_)
    assert row is not None
    text = place.runtime.keyring.open(row["sealed"], row=webhook_row(row["workspace_id"], id_))
    return sign(Secret(text), id_="msg_1", at=AT, body=b"{}").split()


def signed_with(secret: str) -> str:
    return sign(Secret(secret), id_="msg_1", at=AT, body=b"{}")


async def test_two_secrets_sign_while_one_is_changed_and_then_one(place: Place) -> None:
    admin = await place.client("admin")
    made: dict[str, Any] = (await admin.post(HOOKS, json={"url": "https://a.example/hook"})).json()
    id_, first = made["webhook"]["id"], made["secret"]
    assert await signatures(place, id_) == [signed_with(first)]
    second = (await admin.post(f"{HOOKS}/{id_}/secret")).json()["secret"]
    assert await signatures(place, id_) == [signed_with(second), signed_with(first)]
    third = (await admin.post(f"{HOOKS}/{id_}/secret")).json()["secret"]
    assert await signatures(place, id_) == [signed_with(third), signed_with(second)], "never more"
    done = await admin.delete(f"{HOOKS}/{id_}/secret")
    assert done.json()["secrets"] == 1
    assert await signatures(place, id_) == [signed_with(third)]
    told = str(await place.rows("SELECT * FROM audit")) + str(
        await place.rows("SELECT * FROM webhook")
    )
    assert not [each for each in (first, second, third) if each in told]
    assert third not in (await admin.get(HOOKS)).text


async def test_the_audit_log_keeps_of_an_address_its_host_alone(small: Place) -> None:
    """It is exported, and kept for ever; the address of a hook is often a secret itself."""
    admin = await small.client("admin")
    url = "https://ada:canary@a.example:8443/hooks/canary?token=canary"
    made = (await admin.post(HOOKS, json={"url": url})).json()
    assert (await admin.delete(f"{HOOKS}/{made['webhook']['id']}")).status_code == 200
    rows = await small.rows("SELECT * FROM audit WHERE action LIKE 'webhook.%' ORDER BY id")
    assert [row["after"] or row["before"] for row in rows] == ['{"host":"a.example:8443"}'] * 2
    assert "canary" not in str(await small.rows("SELECT * FROM audit"))


async def test_a_dry_run_changes_nothing(small: Place) -> None:
    admin = await small.client("admin")
    made = (await admin.post(HOOKS, json={"url": "https://a.example/hook"})).json()
    tried = await admin.post(f"{HOOKS}/{made['webhook']['id']}/secret", params={"dry_run": "true"})
    assert tried.status_code == 200
    assert await signatures(small, made["webhook"]["id"]) == [signed_with(made["secret"])]


async def test_a_program_that_was_given_up_is_told_again(small: Place) -> None:
    admin = await small.client("admin")
    id_ = (await admin.post(HOOKS, json={"url": "https://a.example/hook"})).json()["webhook"]["id"]
    await small.runtime.operations.run(
        lambda tx, _: tx.run("UPDATE webhook SET active = false, stop_reason = 'it is gone (410)'")
    )
    (given_up,) = (await admin.get(HOOKS)).json()
    assert (given_up["active"], given_up["stop_reason"]) == (False, "it is gone (410)")

    again = await admin.post(f"{HOOKS}/{id_}/resume")

    assert again.json()["webhook"]["active"] is True
    (told,) = (await admin.get(HOOKS)).json()
    assert (told["active"], told["stop_reason"]) == (True, None)
    assert (await admin.post(f"{HOOKS}/nobody/resume")).status_code == 404


async def test_who_chooses_notices_is_told_that_no_mail_leaves_here(small: Place) -> None:
    viewer = await small.client("viewer")
    choices = "/api/v1/workspaces/home-of-ada/notices/choices"
    assert (await viewer.get(choices)).json()["mail"] is False


async def test_an_address_is_shown_cut_and_kept_sealed(place: Place) -> None:
    admin = await place.client("admin")
    url = "https://ada:canary@a.example:8443/hooks/canary-of-some-length?token=canary-7f3a"
    made = await admin.post(HOOKS, json={"url": url})
    assert made.json()["webhook"]["url"] == "https://a.example:8443/…7f3a"
    short = await admin.post(HOOKS, json={"url": "https://a.example/canary"})
    assert short.json()["webhook"]["url"] == "https://a.example/…"
    assert "/canary" not in made.text + short.text + (await admin.get(HOOKS)).text
    assert "canary" not in str(await place.rows("SELECT * FROM webhook"))
