"""Puts the house together: the only place that picks stores, providers, clock and chance.

`open_house(settings)` gives a `House` with everything opened; `run_worker(house, stop)` works in it.
"""

from typing import TYPE_CHECKING

from cadenza.core.lazy import names_from

if TYPE_CHECKING:
    from cadenza.bootstrap.errors import CannotStart
    from cadenza.bootstrap.house import open_house
    from cadenza.bootstrap.jobs import ProductJob
    from cadenza.bootstrap.model import House
    from cadenza.bootstrap.work import run_worker

__getattr__ = names_from(
    __name__,
    {
        "CannotStart": "errors",
        "open_house": "house",
        "ProductJob": "jobs",
        "House": "model",
        "run_worker": "work",
    },
)

__all__ = ["CannotStart", "House", "ProductJob", "open_house", "run_worker"]
