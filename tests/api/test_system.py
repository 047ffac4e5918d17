"""What the application shows of itself to its owners."""

from datetime import datetime, timedelta

from cadenza.sql.tx import Tx
from tests.api.conftest import Place


async def test_who_holds_what_is_shown_with_what_ran_out(place: Place) -> None:
    def lease(tx: Tx, now: datetime) -> None:
        for home, seconds in (("ada", 50), ("ben", -5)):
            tx.run(
                "UPDATE delivery SET worker = 'mill-1', leased_until = :until WHERE id = :id",
                until=now + timedelta(seconds=seconds),
                id=f"delivery-of-{home}",
            )

    await place.runtime.operations.run(lease)
    owner = await place.client("owner")
    shown = (await owner.get("/api/v1/system")).json()
    (held,) = shown["leases"]
    assert (held["worker"], held["kind"], held["held"], held["lapsed"]) == (
        "mill-1",
        "deliveries",
        2,
        1,
    )
    assert held["ends_at"] < shown["database_time"]
