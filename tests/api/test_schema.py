"""The OpenAPI document is a promise: what fits it never breaks us, and what we answer fits it.

Schemathesis makes ten thousand requests from the document, right ones and wrong ones, against the real server.
Ids of the workspace are put in, so that requests get past the door. Right ones are sent to a house on SQLite by
its owner, and to one on PostgreSQL by a key that may do what keys may do at the most; wrong ones to either in
turn, as most are refused before a database is asked. Requests are made when a part of the routes has its turn:
made while tests are collected, they would be made by every process.
"""

import asyncio
import itertools
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cache
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from typing import Any

import httpx2
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    load_all_checks,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test

from cadenza.api.app import create_app
from cadenza.api.resources import known_scopes
from cadenza.api.serve import serve
from cadenza.config.model import Settings
from cadenza.core.clock import SystemClock
from tests.api.conftest import CSRF, Place, furnish_rooms, open_place
from tests.servers.databases import Databases

pytestmark = pytest.mark.filterwarnings("ignore")
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
HOME = {
    "workspace_id": "home-of-ada",
    "account_id": "account-of-ada",
    "delivery_id": "delivery-of-ada",
}


class _Paper:
    """A house that is only described."""

    settings = Settings()
    clock = SystemClock()


def _open(document: dict[str, Any]) -> dict[str, Any]:
    """Leave out how to come in: every request of this test is the owner's."""
    del document["components"]["securitySchemes"]
    for path in document["paths"].values():
        for operation in path.values():
            operation.pop("security", None)
    return document


@cache
def document() -> dict[str, Any]:
    """The application's own, made once a process that needs it."""
    return _open(create_app(_Paper()).openapi())  # pyright: ignore[reportArgumentType]


@cache
def schema() -> Any:
    return (
        schemathesis.openapi.from_dict(document())
        .exclude(path_regex="/(events|progress)$")  # they do not end
        .exclude(path_regex="/auth/sign-out$")  # it would end the walk
    )


PARTS = 24  # of the routes, so that processes can share them
fair_queue = itertools.cycle((True, False))


@cache
def line() -> requests.Session:
    """One line to each server for all requests, which keeps no cookies of the answers."""
    session = requests.Session()
    session.trust_env = False
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
    return session


@contextmanager
def served(address: str, folder: Path) -> Generator[tuple[str, Place]]:
    """The real server in a thread of its own."""
    ready = threading.Event()
    found: dict[str, Any] = {}

    async def run() -> None:
        async with open_place(address, folder) as place:
            found["place"], found["loop"] = place, asyncio.get_running_loop()
            member = place.ids["owner.member"]
            place.ids |= await place.runtime.operations.run(
                lambda tx, now: furnish_rooms(tx, now, "ada", member)
            )

            def started(port: int) -> None:
                found["port"] = port
                ready.set()

            await serve(place.app, "127.0.0.1", 0, place.stop, started=started)

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    assert ready.wait(30)
    yield f"http://127.0.0.1:{found['port']}", found["place"]
    found["loop"].call_soon_threadsafe(found["place"].stop.set)
    thread.join(30)
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def on_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Place]]:
    folder = tmp_path_factory.mktemp("schema")
    with served(f"sqlite:///{folder}/product.sqlite3", folder) as found:
        yield found


@pytest.fixture(scope="module")
def on_postgres(
    tmp_path_factory: pytest.TempPathFactory, postgres_databases: Databases
) -> Iterator[tuple[str, Place]]:
    name = postgres_databases.create_product()
    address = postgres_databases.server.dsn_for(name)
    with served(address, tmp_path_factory.mktemp("schema")) as found:
        yield found
    postgres_databases.drop(name)


@pytest.fixture(scope="module")
def key(on_postgres: tuple[str, Place]) -> str:
    """A key with every scope, of the highest role that keys have."""
    address, place = on_postgres
    answer = httpx2.post(
        f"{address}/api/v1/workspaces/{HOME['workspace_id']}/keys",
        json={"name": "all", "role": "admin", "scopes": sorted(known_scopes())},
        headers=CSRF,
        cookies={"cadenza": place.tokens["owner"]},
    )
    assert answer.status_code == 201, answer.text
    return answer.json()["key"]


def check(case: Any, server: tuple[str, Place], **credentials: Any) -> None:
    """Send one request to what is there, and compare the answer with the document."""
    address, place = server
    case.path_parameters = {
        name: HOME.get(name, place.ids.get(name, value))
        for name, value in (case.path_parameters or {}).items()
    }  # those of the installation before are put over
    case.call_and_validate(
        base_url=address, checks=CHECKS, timeout=30, session=line(), **credentials
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_answers_are_as_described(
    part: int,
    subtests: pytest.Subtests,
    on_sqlite: tuple[str, Place],
    on_postgres: tuple[str, Place],
    key: str,
) -> None:
    load_all_checks()
    for route in itertools.islice(schema().get_all_operations(), part, None, PARTS):
        # As `schema.parametrize()` does, later.
        walk = build_operation_test(
            config=schema().config,
            operation=route.ok(),
            test_func=probe,
            given_kwargs={},
            feedback=FeedbackSources(constants_value_source=None),
        )
        with subtests.test(route=route.ok().label):
            walk(on_sqlite=on_sqlite, on_postgres=on_postgres, key=key)


@settings(
    max_examples=5,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=tuple(HealthCheck),  # pyright: ignore[reportArgumentType]
)
def probe(
    case: Any, on_sqlite: tuple[str, Place], on_postgres: tuple[str, Place], key: str
) -> None:
    """As the owner on SQLite; on PostgreSQL by a key, where the route lets keys in."""
    right = case.meta is None or case.meta.generation.mode is GenerationMode.POSITIVE
    turn = next(fair_queue)
    if right or turn:
        check(case, on_sqlite, **_as_owner(on_sqlite))
    if right or not turn:
        scoped = "x-scope" in case.operation.definition.raw
        by_key = {"headers": {"authorization": f"Bearer {key}"}}
        check(case, on_postgres, **(by_key if scoped else _as_owner(on_postgres)))


def _as_owner(server: tuple[str, Place]) -> dict[str, Any]:
    return {"headers": CSRF, "cookies": {"cadenza": server[1].tokens["owner"]}}
