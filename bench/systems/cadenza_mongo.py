"""Cadenza on MongoDB, finished jobs deleted at once."""

from bench.adapter import Place
from bench.systems.cadenza import Cadenza


class CadenzaMongo(Cadenza):
    """Deletes what is finished."""

    def address(self, place: Place) -> str:
        """Return this run's database."""
        return place.mongo


SYSTEM = CadenzaMongo
