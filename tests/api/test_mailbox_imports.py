"""Mailboxes are imported over HTTP: a dry run judges each row and calls nobody, and no answer holds a password."""

from tests.api.conftest import Place

IMPORTS = "/api/v1/workspaces/home-of-ada/mailbox-imports"
CANARY = "canary-password-of-a-mailbox"
FILE = f"email,smtp_host,password\nada@x.example,h.example,{CANARY}\nnobody,h.example,{CANARY}\n"


async def test_a_dry_run_reports_row_by_row_and_keeps_nothing(place: Place) -> None:
    admin = await place.client("admin")
    before = await place.rows("SELECT id FROM mailbox_import")
    tried = await admin.post(IMPORTS, json={"csv": FILE}, params={"dry_run": "true"})
    assert tried.status_code == 201, tried.text
    rows = tried.json()["rows"]
    assert [(each["number"], each["state"]) for each in rows] == [(1, "waiting"), (2, "refused")]
    assert "from_address" in rows[1]["message"]
    assert tried.json()["dry_run"] is True
    assert CANARY not in tried.text
    assert await place.rows("SELECT id FROM mailbox_import") == before


async def test_an_import_is_stored_sealed_and_shown_to_admins_of_its_workspace(
    place: Place,
) -> None:
    admin = await place.client("admin")
    made = await admin.post(IMPORTS, json={"csv": FILE, "check_only": True})
    assert made.status_code == 201, made.text
    there = made.json()
    assert (there["check_only"], there["finished_at"]) == (True, None)
    path = f"{IMPORTS}/{there['id']}"
    shown = await admin.get(path)
    assert shown.json()["rows"] == there["rows"]
    stored = await place.rows(
        "SELECT * FROM mailbox_import_row WHERE import_id = :id ORDER BY number", id=there["id"]
    )
    assert CANARY not in str(stored)
    assert [row["sealed"] is None for row in stored] == [False, True]
    assert CANARY not in str(await place.rows("SELECT * FROM audit"))
    editor = await place.client("editor")
    assert (await editor.get(path)).status_code == 403
    neighbour = await place.client("ben")
    assert (await neighbour.get(path)).status_code in {403, 404}


async def test_a_file_that_cannot_be_read_says_what_to_do(small: Place) -> None:
    admin = await small.client("admin")
    answer = await admin.post(IMPORTS, json={"csv": "email,smtp_host,pasword\na@x.example,h,p\n"})
    assert answer.status_code == 422
    assert "pasword" in answer.json()["detail"]
