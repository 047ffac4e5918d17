"""The application as a value: everything opened, for the API, the worker and the command line to share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what is opened is known to who opens it; this file costs nothing
    from cadenza.accounts.refresher import Refresher
    from cadenza.accounts.seal import Keyring
    from cadenza.bootstrap.guard import Guard
    from cadenza.bootstrap.library import Library
    from cadenza.config.model import Settings
    from cadenza.core.clock import Clock
    from cadenza.core.ids import Ids, Random
    from cadenza.deliveries.publish import Publisher
    from cadenza.deliveries.reconcile import Reconciler
    from cadenza.deliveries.render import Files
    from cadenza.deliveries.source import DeliverySource
    from cadenza.drafts.write_copy import Copywriter
    from cadenza.engine.client import Engine
    from cadenza.notices.dispatch import Dispatcher
    from cadenza.providers.http.client import OutboundClient
    from cadenza.providers.message import App
    from cadenza.sql.transactions import Operations


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What a running Cadenza consists of."""

    settings: Settings
    clock: Clock
    rng: Random
    ids: Ids
    operations: Operations
    keyring: Keyring
    http: OutboundClient
    files: Files
    library: Library
    copywriter: Copywriter | None  # None: the categories' templates
    app_of: Callable[[str], App]
    source: DeliverySource
    publisher: Publisher
    refresher: Refresher
    reconciler: Reconciler
    dispatcher: Dispatcher
    guard: Guard
    engine: Engine
    schedule_jobs: Callable[[], Awaitable[None]]  # let the recurring product jobs recur
