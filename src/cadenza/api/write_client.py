"""Writes the typed part of the Python client from the OpenAPI document: `python -m cadenza.api.write_client`.

Of `cadenza/client` it makes `shapes.py` (what is asked and answered, as TypedDicts), `calls.py` (a method an
operation), and, as blocking twins, `calls_sync.py` and, from `core.py`, `core_sync.py`. A test compares them with the routes. Limit:
it understands the documents that our own routes make, not every OpenAPI document. It also writes the index of routes.
"""

import subprocess
import sys
from pathlib import Path

from cadenza.api.client_methods import write_methods
from cadenza.api.client_types import write_types
from cadenza.api.document import write_document
from cadenza.api.write_route_index import FILE, write_route_index

CLIENT = Path(__file__).parents[1] / "client"


def write_client() -> dict[str, str]:
    """Return the text of each file by its name, formatted."""
    document = write_document()
    methods = write_methods(document)
    texts = {
        "types.py": write_types(document),
        "methods.py": methods,
        "methods_sync.py": blocking(methods),
        "core_sync.py": blocking((CLIENT / "core.py").read_text()),
    }
    return {name: formatted(text) for name, text in texts.items()}


def blocking(code: str) -> str:
    """Turn the methods that wait into methods that block."""
    text = code
    for was, now in (
        ("await self._clock.sleep(", "sleep("),
        ("clock: Clock | None = None, ", ""),
        ("        self._clock: Clock = clock or SystemClock()\n", ""),
        ("from cadenza.core.clock import Clock, SystemClock\n", ""),
        ("from typing import Any\n", "from time import sleep\nfrom typing import Any\n"),
        ("async def ", "def "),
        ("async with ", "with "),
        ("async for ", "for "),
        ("await ", ""),
        ("AsyncIterator", "Iterator"),
        ("AsyncGenerator", "Generator"),
        ("AsyncClient", "Client"),
        ("aclosing", "closing"),
        ("asynccontextmanager", "contextmanager"),
        (".aread", ".read"),
        (".aiter_", ".iter_"),
        ("client.methods import", "client.methods_sync import"),
        ("class Client", "class SyncClient"),
        ("Generator[Client]", "Generator[SyncClient]"),
        ("yield Client(", "yield SyncClient("),
        ("client: Client", "client: SyncClient"),
        ("class Workspace(WorkspaceCalls)", "class SyncWorkspace(WorkspaceCalls)"),
        ('"Workspace"', '"SyncWorkspace"'),
        ("return Workspace", "return SyncWorkspace"),
        ("def connect(", "def connect_sync("),
        (
            '"""The client with an event loop',
            '"""The client without an event loop, made from `core.py`',
        ),
        ("import Event, File, Requester, Told", "import Event, File, SyncRequester, Told"),
        ("Requester(", "SyncRequester("),
        (": Requester", ": SyncRequester"),
        ("for programs with an event loop", "for programs without an event loop"),
    ):
        text = text.replace(was, now)
    return text


def formatted(text: str) -> str:
    """Format as the rest of the installation is."""
    return subprocess.run(
        ["ruff", "format", "--line-length", "100", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"},
    ).stdout


if __name__ == "__main__":
    for name, text in write_client().items():
        (CLIENT / name).write_text(text)
    FILE.write_text(formatted(write_route_index()))
