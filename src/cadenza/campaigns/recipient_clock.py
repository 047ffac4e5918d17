"""When a recipient may be written to, by the recipient's own clock: the campaign's start and its quiet hours there."""

from datetime import datetime, time, timedelta

from cadenza.core.zones import Zone, get_zone, local, resolve
from cadenza.sql.tx import Tx

EARLIEST = timedelta(hours=14)  # ahead of UTC: no clock anywhere is further


def zone_of(tx: Tx, workspace_id: str, own: str | None) -> Zone:
    """Return a campaign's zone: its own, else the workspace's."""
    if own is None:
        own = str(tx.value("SELECT zone FROM workspace WHERE id = :id", id=workspace_id))
    return get_zone(own)


def first_anywhere(start_at: datetime, zone: Zone) -> datetime:
    """Return when the start's wall time in a zone is first read off a clock anywhere."""
    wall = local(start_at, zone)
    return start_at + (wall.utcoffset() or timedelta()) - EARLIEST


def starts_at(start_at: datetime, zone: Zone, recipient: str | None) -> datetime:
    """Return when the start's wall time in a zone comes on the recipient's clock."""
    if recipient is None or recipient == zone.name:
        return start_at
    wall = local(start_at, zone)
    at = time(wall.hour, wall.minute, wall.second, wall.microsecond)
    return resolve(wall.date(), at, get_zone(recipient)).instants[0]
