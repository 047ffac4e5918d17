"""Cadenza on SQLite at synchronous=FULL, finished jobs deleted at once."""

from bench.adapter import Place
from bench.systems.cadenza import Cadenza


class CadenzaSqlite(Cadenza):
    """Deletes what is finished."""

    def address(self, place: Place) -> str:
        """Return this session's file."""
        return f"sqlite:///{place.file}"


SYSTEM = CadenzaSqlite
