"""Cadenza on Valkey, finished jobs deleted at once."""

from bench.adapter import Place
from bench.systems.cadenza import Cadenza


class CadenzaRedis(Cadenza):
    """Deletes what is finished."""

    def address(self, place: Place) -> str:
        """Return this run's server."""
        return f"unix://{place.valkey}"


SYSTEM = CadenzaRedis
