"""The client's types and methods are those of the routes, and nothing of the server comes with them."""

from __future__ import annotations

import subprocess
import sys

from cadenza.api.document import write_document
from cadenza.api.write_client import CLIENT, blocking, write_client
from cadenza.client import methods, methods_sync


def test_the_client_is_made_from_the_routes_as_they_are() -> None:
    stale = [name for name, text in write_client().items() if (CLIENT / name).read_text() != text]
    assert not stale, f"run `python -m cadenza.api.write_client`: {stale} tell of other routes"


def test_every_operation_is_a_method_of_both_clients() -> None:
    for module in (methods, methods_sync):
        count = sum(
            not name.startswith("_")
            for each in vars(module).values()
            if isinstance(each, type) and issubclass(each, module.Calls)
            for name in vars(each)
        )
        left_out = (
            8 + 1 + 1 + 2 + 2 + 4
        )  # signing in, agents, a feed, health, public media, sign-up
        assert count == sum(map(len, write_document()["paths"].values())) - left_out


def test_the_blocking_twin_waits_for_nothing() -> None:
    code = blocking((CLIENT / "core.py").read_text())
    assert "async" not in code.replace("asynchronous", "")
    assert "await" not in code


def test_the_client_brings_nothing_of_the_server_along() -> None:
    look = "import sys, cadenza.client; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    ours = {name.split(".")[1] for name in loaded if name.startswith("cadenza.")}
    assert ours == {"client", "core"}
    assert not {"fastapi", "pydantic", "sqlalchemy", "uvicorn"} & loaded
