"""After a restore, sending is held over HTTP as well: everybody sees it, the instance's owner confirms."""

from cadenza.deliveries.installation import RESTORE, beat, hold, read_signs
from tests.api.conftest import Place

SYSTEM = "/api/v1/system"


async def test_a_restore_is_shown_and_confirmed_once_by_whoever_owns_the_instance(
    place: Place,
) -> None:
    await place.runtime.operations.run(beat)
    await place.runtime.operations.run(
        lambda tx, now: hold(tx, now, kind=RESTORE, message="the database was restored")
    )
    owner, editor = await place.client("owner"), await place.client("editor")
    shown = (await owner.get(SYSTEM)).json()["hold"]
    assert (shown["kind"], shown["message"]) == (RESTORE, "the database was restored")
    said = (await editor.get("/api/v1/me")).json()["sending_held"]
    assert said == "the database was restored"
    assert (await editor.post(f"{SYSTEM}/confirm", json={})).status_code == 403
    signs = await place.runtime.operations.read(read_signs)
    assert signs is not None
    assert signs.hold is not None

    done = await owner.post(f"{SYSTEM}/confirm", json={})
    assert (done.status_code, done.json()["kind"]) == (200, RESTORE), done.text
    assert (await owner.get(SYSTEM)).json()["hold"] is None
    assert done.json()["missed"] == 0
    assert (await editor.get("/api/v1/me")).json()["sending_held"] is None
    again = await owner.post(f"{SYSTEM}/confirm", json={})
    assert (again.status_code, again.json()["type"].endswith("nothing_held")) == (409, True)
    written = await place.rows("SELECT action FROM audit WHERE action LIKE 'installation.%'")
    assert {row["action"] for row in written} == {"installation.confirm_restore"}
