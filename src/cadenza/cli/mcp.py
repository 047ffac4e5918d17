"""`cadenza mcp`: the workspace for programs that speak the Model Context Protocol over stdin and stdout.

Each line read is a JSON-RPC message and is posted to the workspace's own endpoint, on a server or on the
local database; each answer is a line. A notification gives no line, and the end of the input ends it.
Limit: one message after another, in their order; the server sends nothing of its own accord.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

import msgspec
from cyclopts import App

from cadenza.cli.codes import OK
from cadenza.cli.open_workspace import USUALLY, WorkspaceOptions, opened_workspace
from cadenza.client.errors import ClientError, Problem

if TYPE_CHECKING:
    from cadenza.client.core import Workspace

app = App(name="mcp", help="Let an agent's program use the workspace over stdin and stdout.")

LONGEST = 16 * 1024 * 1024  # bytes of a line; the server takes less
NOT_JSON, NOT_A_MESSAGE, REFUSED_BY_SERVER = -32700, -32600, -32000


@app.default
async def bridge(*, options: WorkspaceOptions = USUALLY) -> int:
    """Carry messages between an agent's program and the workspace until the input ends.

    Without --server the local database is used, as its owner (or --as whom). With --server and --key the
    agent may do what the key may do.
    """
    async with opened_workspace(options) as home:
        async for line in _lines(sys.stdin.fileno()):
            answer = await _post_message(home, line)
            if answer is not None:
                _write(answer)
    return OK


async def _post_message(home: "Workspace", line: bytes) -> object | None:
    """Post one message; return what to answer, if anything."""
    try:
        said = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _fault(None, NOT_JSON, "this line is not JSON: send one message a line")
    if not isinstance(said, dict):
        return _fault(None, NOT_A_MESSAGE, "a message is a JSON object, one a line")
    message: dict[str, Any] = said
    id_ = message.get("id")
    if "method" not in message:
        requested = not ("result" in message or "error" in message)  # an answer is not answered
        return _fault(id_, NOT_A_MESSAGE, "the message names no method") if requested else None
    try:
        answer = await home.client.request("POST", f"/workspaces/{home.id}/mcp", json=message)
    except ClientError as error:
        text = "; ".join(error.lines()) if isinstance(error, Problem) else str(error)
        if id_ is not None:
            return _fault(id_, REFUSED_BY_SERVER, text)
        print(f"cadenza: {text}", file=sys.stderr)  # nobody waits for it on the other stream
        return None
    return None if id_ is None else answer


async def _lines(source: int) -> AsyncGenerator[bytes]:
    """Read lines as they come; the stream stays blocking, as others may share it."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST)

    def ready() -> bool:
        piece = os.read(source, 65536)
        if piece:
            reader.feed_data(piece)
            return True
        loop.remove_reader(source)
        reader.feed_eof()
        return False

    try:
        loop.add_reader(source, ready)
    except PermissionError:  # a plain file is always ready: it cannot be waited for
        while ready():
            pass
    try:
        while line := await _next(reader):
            if line.strip():
                yield line
    finally:
        loop.remove_reader(source)


async def _next(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readline()
    except ValueError:  # longer than anything that is taken: answered like what cannot be read
        return b"too long\n"


def _fault(id_: object, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}


def _write(answer: object) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()
