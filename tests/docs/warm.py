"""Runs `cadenza` commands in forks of one process that has imported everything, so that a page takes seconds.

A small program named `cadenza` hands its arguments, folder, environment and open files over a socket and leaves with
the code that comes back: to the shell it is the command. Commands that stay are started as they are, without this.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import sys
import traceback
from pathlib import Path

from cadenza.cli.run import GROUPS, run

SHIM = """#!{python} -SE
import json, os, socket, sys
warm = socket.socket(socket.AF_UNIX)
warm.connect({socket!r})
said = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode() + b"\\n"
socket.send_fds(warm, [b"."], [0, 1, 2])
warm.sendall(said)
sys.exit(int(warm.recv(16) or b"70"))
"""


def write_shim(folder: Path, path: str) -> None:
    """Put a `cadenza` into a folder that asks the process behind a socket."""
    folder.mkdir()
    shim = folder / "cadenza"
    shim.write_text(SHIM.format(python=sys.executable, socket=path))
    shim.chmod(0o755)


def serve(path: str) -> None:
    """Import everything, then fork a child for each command, until told to stop."""
    for place, _ in GROUPS.values():
        importlib.import_module(place.partition(":")[0])
    importlib.import_module("cadenza.cli.local")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        while True:
            requested, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _answer(requested)
            requested.close()


def _answer(requested: socket.socket) -> None:
    code = 70
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _, files, _, _ = socket.recv_fds(requested, 1, 3)
        for number, file in enumerate(files):
            os.dup2(file, number)
        with requested.makefile("rb") as stream:
            words, folder, environ = json.loads(stream.readline())
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environ)
        sys.argv = ["cadenza", *words]
        code = run(words)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # a command whose reader left lets go of its output
                stream.flush()
    except BaseException:  # noqa: BLE001 - the child says what happened, and ends
        traceback.print_exc()
    finally:
        requested.sendall(str(code).encode())
        os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1])
