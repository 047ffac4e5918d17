"""Files that commands send and receive, with a bar on the terminal while it takes time.

Nothing that is there is overwritten, and what was received by halves is taken away again.
"""

import sys
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from cadenza.cli.codes import UsageError
from cadenza.cli.show import echo, print_json
from cadenza.client.errors import ClientError
from cadenza.client.wire import Told


@contextmanager
def sending(words: str) -> Generator[Told]:
    """Show how much of a file was sent; what follows (checking, storing) is shown as waiting."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(
        *columns, console=console, disable=not console.is_terminal, transient=True
    ) as bar:
        task = bar.add_task(words, total=None)

        def told(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield told


async def save(
    pieces: AsyncIterator[bytes], file: Path | None, words: str, *, json: bool = False
) -> None:
    """Write what is received into a new file, or to the standard output."""
    if file is None and sys.stdout.isatty():
        raise UsageError("name a file, or send it somewhere: cadenza export workspace.zip")
    out = sys.stdout.buffer if file is None else new_file(file)
    try:
        size = await _receive(pieces, out, words)
    except BaseException:
        if file is not None:
            out.close()
            file.unlink(missing_ok=True)  # noqa: ASYNC240 - nothing else runs in a command
        raise
    if file is None:
        out.flush()
        return
    out.close()
    if json:
        print_json({"file": str(file), "bytes": size})
    else:
        echo(f"{file}: {size:,} bytes")


async def _receive(pieces: AsyncIterator[bytes], out: BinaryIO, words: str) -> int:
    size = 0
    with sending(words) as told:
        async for piece in pieces:
            out.write(piece)
            size += len(piece)
            told(size, size)
    return size


def new_file(file: Path) -> BinaryIO:
    """Open a file that is not there yet; refuse in one line."""
    try:
        return file.open("xb")
    except FileExistsError:
        raise ClientError(f"{file} is there already: name another file") from None
    except OSError as error:
        raise ClientError(f"{file} cannot be written: {error.strerror}") from error
