"""What a person says of themselves: name, zone, first day of the week; their memberships carry the name."""

from datetime import datetime

from cadenza.core.zones import get_zone
from cadenza.db.audit import record
from cadenza.people.model import INSTANCE
from cadenza.sql.tx import Row, Tx


def show_profile(tx: Tx, now: datetime, *, person_id: str) -> Row:
    """Return the row of somebody who is signed in."""
    row = tx.one("SELECT * FROM person WHERE id = :id", id=person_id)
    assert row is not None, "who is signed in is there"
    return row


def change_profile(
    tx: Tx,
    now: datetime,
    *,
    person_id: str,
    name: str | None,
    zone: str | None,
    week_start: int | None,
) -> None:
    """Change what is given; None leaves a thing as it is."""
    row = show_profile(tx, now, person_id=person_id)
    after = {
        "name": row["name"] if name is None else name,
        "zone": row["zone"] if zone is None else zone,
        "week_start": row["week_start"] if week_start is None else week_start,
    }
    get_zone(after["zone"])
    tx.run(
        "UPDATE person SET name = :name, zone = :zone, week_start = :week_start WHERE id = :id",
        id=person_id,
        **after,
    )
    tx.run("UPDATE member SET name = :name WHERE person_id = :id", name=after["name"], id=person_id)
    record(
        tx,
        now,
        workspace_id=INSTANCE,
        by=f"person:{person_id}",
        action="person.change",
        subject_id=person_id,
        before={name: row[name] for name in after},
        after=after,
    )
