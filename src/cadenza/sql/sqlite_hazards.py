"""What could harm this SQLite file, told so that `doctor` can show it.

Three things are looked at: the WAL-reset bug of SQLite below 3.51.3 and how we keep it
away, the journal mode that we really got, and a network file system, whose locks SQLite
cannot trust; the product refuses that one. Mounts are read from /proc, so elsewhere than on Linux the last is unknown.
"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from cadenza.sql.errors import Unavailable

WAL_RESET_FIXED_IN = (3, 51, 3)

_NETWORK = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "fuse.glusterfs", "fuse.sshfs", "gfs2", "lustre"}
    | {"nfs", "nfs4", "ocfs2", "smb3", "smbfs"}
)


@dataclass(frozen=True, slots=True)
class Hazards:
    """The facts, and in `warnings` one sentence for each that a person should act on."""

    sqlite_version: str
    wal_reset_bug: bool
    wal_reset_handling: str
    journal_mode: str
    file_system: str | None
    warnings: tuple[str, ...]


def find_hazards(
    path: str,
    *,
    journal_mode: str,
    version: tuple[int, int, int] = sqlite3.sqlite_version_info,
    mounts: str | None = None,
) -> Hazards:
    """Judge the library, the journal and the disk under `path`."""
    affected = version < WAL_RESET_FIXED_IN
    system = _file_system(path, _read_mounts() if mounts is None else mounts)
    return Hazards(
        sqlite_version=".".join(map(str, version)),
        wal_reset_bug=affected,
        wal_reset_handling=(
            "automatic checkpoints are off; one process at a time checkpoints, under a file lock"
            if affected
            else "not needed: this SQLite is free of the bug"
        ),
        journal_mode=journal_mode,
        file_system=system,
        warnings=tuple(_warnings(path, journal_mode, system)),
    )


def refuse_network_disk(path: str, mounts: str | None = None) -> None:
    """Refuse a file where two machines could damage it; elsewhere than on Linux nothing is known of that."""
    system = _file_system(path, _read_mounts() if mounts is None else mounts)
    if system in _NETWORK:
        raise Unavailable(
            f"{path} lies on {system}, a network file system, where SQLite's locks do not hold and two"
            " machines can damage it. Stop everything and move the data folder to a local disk (the"
            " setting `data` or CADENZA_DATA), or use PostgreSQL (`database` or CADENZA_DATABASE)"
        )


def _warnings(path: str, journal_mode: str, system: str | None) -> list[str]:
    found: list[str] = []
    if journal_mode not in {"wal", "memory"}:
        found.append(
            f"{path} is in journal mode {journal_mode}, not WAL: readers and writers will wait"
            " for each other. Keep it on a local disk that allows shared memory."
        )
    if system in _NETWORK:
        found.append(
            f"{path} lies on {system}, a network file system, where SQLite's locks do not hold"
            " and two machines can damage it. Move it to a local disk, or use PostgreSQL."
        )
    return found


def _file_system(path: str, mounts: str) -> str | None:
    """Return the type of the deepest mount that holds `path`."""
    if path == ":memory:":
        return None
    place = Path(path).resolve()
    best: tuple[int, str] | None = None
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = fields[1].replace("\\040", " ")
        # A later mount on the same point hides the earlier one, hence >=.
        if place.is_relative_to(point) and (best is None or len(point) >= best[0]):
            best = (len(point), fields[2])
    return best[1] if best else None


def _read_mounts() -> str:
    try:
        return Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
