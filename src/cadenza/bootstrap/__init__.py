"""Puts the application together: the only place that picks stores, providers, clock and chance.

`open_runtime(settings)` gives a `Runtime` with everything opened; `run_worker(runtime, stop)` works in it.
"""

from typing import TYPE_CHECKING

from cadenza.core.lazy import names_from

if TYPE_CHECKING:
    from cadenza.bootstrap.errors import CannotStart
    from cadenza.bootstrap.jobs import ProductJob
    from cadenza.bootstrap.model import Runtime
    from cadenza.bootstrap.runtime import open_runtime
    from cadenza.bootstrap.work import run_worker

__getattr__ = names_from(
    __name__,
    {
        "CannotStart": "errors",
        "open_runtime": "runtime",
        "ProductJob": "jobs",
        "Runtime": "model",
        "run_worker": "work",
    },
)

__all__ = ["CannotStart", "ProductJob", "Runtime", "open_runtime", "run_worker"]
