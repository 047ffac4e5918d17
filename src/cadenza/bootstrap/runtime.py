"""Opens the application: from settings to everything that a running Cadenza consists of.

Opened in the order of need and closed in reverse. Nothing runs by itself here: `run_worker` does that.
The engine's jobs live in the product's own database, so one backup holds all.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

from cadenza.accounts.refresher import Refresher
from cadenza.accounts.seal import Keyring
from cadenza.accounts.seal_addresses import seal_addresses
from cadenza.bootstrap.apps import app_finder
from cadenza.bootstrap.errors import CannotStart
from cadenza.bootstrap.find_copywriter import BadCopywriter, find_copywriter
from cadenza.bootstrap.guard import Guard
from cadenza.bootstrap.jobs import JOBS, ProductJob
from cadenza.bootstrap.keyring import open_keyring
from cadenza.bootstrap.library import open_library
from cadenza.bootstrap.model import Runtime
from cadenza.bootstrap.outbound import open_mail, policy_of
from cadenza.bootstrap.register_planners import register_planners
from cadenza.bootstrap.wake_workers import wake_workers
from cadenza.config.model import Settings
from cadenza.core.clock import Clock, SystemClock
from cadenza.core.ids import Ids, Random, SystemIds, SystemRandom
from cadenza.db.open import open_product
from cadenza.deliveries.open_sender import sender_opener
from cadenza.deliveries.publish import Publisher
from cadenza.deliveries.reconcile import Reconciler
from cadenza.deliveries.source import DeliverySource
from cadenza.drafts.write_copy import Copywriter
from cadenza.engine.client import Engine
from cadenza.engine.store import Store
from cadenza.engine.stores.postgres import PostgresStore
from cadenza.engine.stores.sqlite import SqliteStore
from cadenza.notices.dispatch import Dispatcher
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.redact import Secret
from cadenza.providers.registry import provider
from cadenza.sql.transactions import Operations, SqliteOperations


@asynccontextmanager
async def open_runtime(
    settings: Settings,
    *,
    clock: Clock | None = None,
    rng: Random | None = None,
    ids: Ids | None = None,
    jobs: tuple[ProductJob, ...] = JOBS,
) -> AsyncGenerator[Runtime]:
    """Open everything that the settings name; close it at the end."""
    clock, rng, ids = clock or SystemClock(), rng or SystemRandom(), ids or SystemIds()
    copywriter = _copywriter(settings)
    _make_folders(settings)
    keyring = open_keyring(settings)
    async with (
        open_product(settings.database_address, clock=clock, ids=ids) as operations,
        OutboundClient(policy_of(settings), clock=clock) as http,
        Engine(_store(settings, operations, clock), clock=clock, rng=rng) as engine,
    ):
        await seal_addresses(operations, keyring)
        runtime = _assemble(
            settings, operations, http, engine, keyring, copywriter, (clock, rng, ids)
        )
        register_planners()
        for job in jobs:
            job.declare(runtime)
        unwatch = wake_workers(operations, runtime.source, engine.store)

        async def schedule_jobs() -> None:
            for job in jobs:
                await job.schedule(runtime)

        try:
            yield replace(runtime, schedule_jobs=schedule_jobs)
        finally:
            unwatch()
            runtime.library.close()


def _assemble(
    settings: Settings,
    operations: Operations,
    http: OutboundClient,
    engine: Engine,
    keyring: Keyring,
    copywriter: Copywriter | None,
    ports: tuple[Clock, Random, Ids],
) -> Runtime:
    clock, rng, ids = ports
    library = open_library(settings, operations=operations, http=http, clock=clock, keyring=keyring)
    app_of = app_finder(settings)
    refresher = Refresher(
        operations, ring=keyring, provider_of=provider, app_of=app_of, http=http, clock=clock
    )
    source = DeliverySource(operations)
    publisher = Publisher(
        source,
        operations,
        open_sender=sender_opener(keyring, provider_of=provider, app_of=app_of),
        http=http,
        files=library.files,
        clock=clock,
        rng=rng,
        new_id=ids.new,
        refresher=refresher,
    )
    dispatcher = Dispatcher(
        operations,
        mail=open_mail(settings, http),
        http=http,
        open_secret=lambda sealed, row: Secret(keyring.open(sealed, row=row)),
        public_url=settings.home,
        rng=rng,
    )
    return Runtime(
        settings=settings,
        clock=clock,
        rng=rng,
        ids=ids,
        operations=operations,
        keyring=keyring,
        http=http,
        files=library.files,
        library=library,
        copywriter=copywriter,
        app_of=app_of,
        source=source,
        publisher=publisher,
        refresher=refresher,
        reconciler=Reconciler(operations, publisher.find_out, clock=clock),
        dispatcher=dispatcher,
        guard=Guard(operations, source, settings.witness),
        engine=engine,
        schedule_jobs=_none,
    )


async def _none() -> None:
    """Nothing recurs yet."""


def _store(settings: Settings, operations: Operations, clock: Clock) -> Store:
    """Keep the engine's jobs where the product's tables are."""
    if isinstance(operations, SqliteOperations):
        database = operations.database
        return SqliteStore(database.path, clock=clock, database=database)
    return PostgresStore(settings.database_address, clock=clock)


def _copywriter(settings: Settings) -> Copywriter | None:
    try:
        return find_copywriter(settings.copywriter)
    except BadCopywriter as error:
        raise CannotStart(str(error)) from error


def _make_folders(settings: Settings) -> None:
    try:
        settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise CannotStart(
            f"the data folder {settings.data} cannot be made ({error.strerror}): "
            "make it, or set `data` to a folder that this user may write"
        ) from error
