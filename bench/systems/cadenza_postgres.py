"""Cadenza on PostgreSQL, finished jobs deleted at once."""

from bench.adapter import Place
from bench.systems.cadenza import Cadenza


class CadenzaPostgres(Cadenza):
    """Deletes what is finished."""

    def address(self, place: Place) -> str:
        """Return this session's database."""
        return place.dsn


SYSTEM = CadenzaPostgres
