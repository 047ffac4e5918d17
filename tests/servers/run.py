"""Servers of one test run: started by the first process that asks, shared by all.

The controller makes the run's folder and holds its `alive` lock; xdist workers get the
folder by name. Under a file lock the first asker starts a server and writes down where it
is; the others attach. When the controller ends, or dies, the keepers end the servers.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Protocol, TypeVar

import pytest

from tests.servers import place
from tests.servers.mongo import PrivateMongo
from tests.servers.place import ServerUnavailableError
from tests.servers.postgres import PrivatePostgres
from tests.servers.valkey import PrivateValkey

REQUIRE = "CADENZA_TEST_REQUIRE"


class Shareable(Protocol):
    def describe(self) -> dict[str, object]: ...
    def close(self) -> None: ...
    def hand_over(self) -> None: ...


Server = TypeVar("Server", bound=Shareable)


class RunServers:
    """The run's folder, and the servers described in it."""

    def __init__(self, folder: Path, hold: IO[bytes] | None = None) -> None:
        self.folder = folder
        self._hold = hold

    @classmethod
    def begin(cls) -> RunServers:
        """Make the run's folder; for the controller only."""
        place.sweep()
        folder = place.new_folder("run")
        return cls(folder, place.hold(folder / "alive"))

    def postgres(self) -> PrivatePostgres:
        def create() -> PrivatePostgres:
            return PrivatePostgres.create(alive=self.folder / "alive")

        return self._share("postgres", create, PrivatePostgres.attach)

    def valkey(self) -> PrivateValkey:
        def create() -> PrivateValkey:
            return PrivateValkey.create(alive=self.folder / "alive")

        return self._share("valkey", create, PrivateValkey.attach)

    def mongo(self) -> PrivateMongo:
        def create() -> PrivateMongo:
            return PrivateMongo.create(alive=self.folder / "alive")

        return self._share("mongo", create, PrivateMongo.attach)

    def finish(self) -> None:
        """Stop what was started, and remove the folder; for the controller only."""
        for name, attach in (
            ("postgres", PrivatePostgres.attach),
            ("valkey", PrivateValkey.attach),
            ("mongo", PrivateMongo.attach),
        ):
            description = self._read(name)
            if description is not None and "unavailable" not in description:
                attach(description).close()
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._hold is not None:
            self._hold.close()

    def _share(
        self,
        name: str,
        create: Callable[[], Server],
        attach: Callable[[Mapping[str, object]], Server],
    ) -> Server:
        with (self.folder / f"{name}.lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            description = self._read(name)
            if description is None:
                try:
                    server = create()
                except ServerUnavailableError as reason:
                    self._write(name, {"unavailable": str(reason)})
                    raise
                self._write(name, server.describe())
                server.hand_over()
                return server
        if "unavailable" in description:
            raise ServerUnavailableError(str(description["unavailable"]))
        return attach(description)

    def _read(self, name: str) -> dict[str, object] | None:
        try:
            return json.loads((self.folder / f"{name}.json").read_text())
        except FileNotFoundError:
            return None

    def _write(self, name: str, description: Mapping[str, object]) -> None:
        (self.folder / f"{name}.json").write_text(json.dumps(description))


def skip_or_fail(name: str, reason: object) -> None:
    """Skip for want of a server, unless CADENZA_TEST_REQUIRE asks for it (a name, or all)."""
    required = {word.strip() for word in os.environ.get(REQUIRE, "").split(",")}
    if required & {"all", name}:
        pytest.fail(f"{name} is required by {REQUIRE} and missing: {reason}", pytrace=False)
    pytest.skip(f"{name} is missing: {reason}")
