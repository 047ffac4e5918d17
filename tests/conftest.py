"""Fixtures that every test may ask for: real servers, and one Hypothesis profile.

`postgres` and `valkey` are shared by the whole run; `postgres_database` is a fresh
database for one test, `database` one with the product's tables, on SQLite and on PostgreSQL;
`private_postgres` and `private_valkey` are for tests that stop, crash or configure their server.
"""

from __future__ import annotations

import gc
import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import hypothesis
import pytest

from cadenza.core.clock import SystemClock
from cadenza.db.open import migrations
from cadenza.db.schema import LINE
from cadenza.sql.sqlite import SqliteDatabase
from tests.servers.databases import Databases
from tests.servers.mongo import PrivateMongo
from tests.servers.place import ServerUnavailableError, stay_in_memory
from tests.servers.postgres import PrivatePostgres
from tests.servers.run import RunServers, skip_or_fail
from tests.servers.valkey import PrivateValkey

# A shared machine makes deadlines lie; a failure prints the blob that replays it.
hypothesis.settings.register_profile("ci", deadline=None, derandomize=False, print_blob=True)
hypothesis.settings.register_profile(
    "soak", parent=hypothesis.settings.get_profile("ci"), max_examples=2000
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

RUN = pytest.StashKey[RunServers]()
FOLDER = "cadenza_run_folder"


def pytest_configure(config: pytest.Config) -> None:
    worker: dict[str, str] | None = getattr(config, "workerinput", None)
    if worker is None:
        stay_in_memory()
    config.stash[RUN] = RunServers.begin() if worker is None else RunServers(Path(worker[FOLDER]))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: pytest.Item) -> None:
    node.workerinput[FOLDER] = str(node.config.stash[RUN].folder)  # pyright: ignore[reportAttributeAccessIssue]


def pytest_collection() -> None:
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, so that no process is left alone with it at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leave what was collected out of every later search for garbage: it stays to the end."""
    gc.enable()
    gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.stash[RUN].finish()


@pytest.fixture(scope="session")
def postgres(pytestconfig: pytest.Config) -> PrivatePostgres:
    """The run's PostgreSQL. Others use it too: never stop it, take `private_postgres`."""
    try:
        return pytestconfig.stash[RUN].postgres()
    except ServerUnavailableError as reason:
        skip_or_fail("postgres", reason)
        raise


@pytest.fixture(scope="session")
def postgres_databases(postgres: PrivatePostgres) -> Iterator[Databases]:
    databases = Databases(postgres)
    yield databases
    databases.close()


@pytest.fixture
def postgres_database(postgres_databases: Databases) -> Iterator[str]:
    """The dsn of an empty database that is this test's alone."""
    name = postgres_databases.create()
    yield postgres_databases.server.dsn_for(name)
    postgres_databases.drop(name)


@pytest.fixture
def product_database(postgres_databases: Databases) -> Iterator[str]:
    """The dsn of a database with the product's empty tables that is this test's alone."""
    name = postgres_databases.create_product()
    yield postgres_databases.server.dsn_for(name)
    postgres_databases.drop(name)


@pytest.fixture(scope="session")
def product_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the product's empty tables, made once a process, to be copied."""
    file = tmp_path_factory.mktemp("product") / "cadenza.sqlite3"
    with SqliteDatabase(str(file), clock=SystemClock()) as database:
        database.migrate(LINE, migrations())
    return file


@pytest.fixture
def sqlite_database(product_file: Path, tmp_path: Path) -> str:
    """The address of a SQLite database with the product's empty tables that is this test's alone."""
    file = tmp_path / "data" / "cadenza.sqlite3"
    file.parent.mkdir()
    shutil.copyfile(product_file, file)
    return f"sqlite:///{file}"


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> str:
    """The address of a database with the product's empty tables, of each kind that people use."""
    kinds = {"sqlite": "sqlite_database", "postgres": "product_database"}
    return request.getfixturevalue(kinds[request.param])


@pytest.fixture
def private_postgres() -> Iterator[Callable[..., PrivatePostgres]]:
    """Start servers of this test's own: `private_postgres(fsync=True, settings={...})`."""
    with ExitStack() as servers:

        def create(**options: object) -> PrivatePostgres:
            try:
                server = PrivatePostgres.create(**options)  # pyright: ignore[reportArgumentType]
            except ServerUnavailableError as reason:
                skip_or_fail("postgres", reason)
                raise
            return servers.enter_context(server)

        yield create


@pytest.fixture(scope="session")
def valkey_server(pytestconfig: pytest.Config) -> PrivateValkey:
    try:
        return pytestconfig.stash[RUN].valkey()
    except ServerUnavailableError as reason:
        skip_or_fail("valkey", reason)
        raise


@pytest.fixture
def valkey(valkey_server: PrivateValkey) -> PrivateValkey:
    """The run's Valkey. Others use it too: take keys of your own, or `private_valkey`."""
    return valkey_server


@pytest.fixture
def redis_database(valkey_server: PrivateValkey) -> str:
    """The address of a prefix on the run's Valkey that is this test's alone."""
    return f"{valkey_server.url}?prefix=test-{os.getpid()}-{next(_numbers)}"


@pytest.fixture
def private_mongo() -> Iterator[Callable[[], PrivateMongo]]:
    """Start a MongoDB, or its stand-in, of this test's own, which may be stopped."""
    with ExitStack() as servers:

        def create() -> PrivateMongo:
            try:
                server = PrivateMongo.create(own=True)
            except ServerUnavailableError as reason:
                skip_or_fail("mongo", reason)
                raise
            return servers.enter_context(server)

        yield create


@pytest.fixture
def private_valkey() -> Iterator[Callable[..., PrivateValkey]]:
    """Start servers of this test's own: `private_valkey(options={...})`."""
    with ExitStack() as servers:

        def create(**options: object) -> PrivateValkey:
            try:
                server = PrivateValkey.create(**options)  # pyright: ignore[reportArgumentType]
            except ServerUnavailableError as reason:
                skip_or_fail("valkey", reason)
                raise
            return servers.enter_context(server)

        yield create


_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def mongo_server(pytestconfig: pytest.Config) -> PrivateMongo:
    """The run's MongoDB. Others use it too: never stop it, take `PrivateMongo.create(own=True)`."""
    try:
        return pytestconfig.stash[RUN].mongo()
    except ServerUnavailableError as reason:
        skip_or_fail("mongo", reason)
        raise


@pytest.fixture
def mongo_database(mongo_server: PrivateMongo) -> Iterator[str]:
    """The address of an empty MongoDB database that is this test's alone."""
    name = f"cadenza_test_{os.getpid()}_{next(_numbers)}"
    yield mongo_server.url_for(name)
    mongo_server.drop(name)
