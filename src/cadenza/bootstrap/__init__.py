"""Puts the house together: the only place that picks stores, providers, clock and chance.

`open_house(settings)` gives a `House` with everything opened; `run_worker(house, stop)` works in it.
"""

from cadenza.bootstrap.house import CannotStart, open_house
from cadenza.bootstrap.jobs import ProductJob
from cadenza.bootstrap.model import House
from cadenza.bootstrap.work import run_worker

__all__ = ["CannotStart", "House", "ProductJob", "open_house", "run_worker"]
