"""Run one server, and end it when its owner is gone, however the owner went.

    python keeper.py ALIVE FOLDER UID GID -- COMMAND...

The owner holds an exclusive lock on the file ALIVE. The kernel drops that lock when the
owner dies, even by SIGKILL; the keeper waits for it, then kills the server and removes
FOLDER and the folder of ALIVE. Limit: a child that the owner forked without exec holds the lock too, so the
server then lives as long as that child.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

GRACE_SECONDS = 3


def main(arguments: list[str]) -> int:
    alive, folder, uid, gid, dashes, *command = arguments
    if dashes != "--":
        raise SystemExit(__doc__)
    # A handler, not SIG_IGN: exec would pass SIG_IGN on, and SIGINT is how PostgreSQL is told.
    signal.signal(signal.SIGINT, lambda *_: None)
    drop = {"user": int(uid), "group": int(gid), "extra_groups": []} if int(uid) >= 0 else {}
    with (Path(folder) / "server.log").open("ab") as log:
        server = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            **drop,
        )
    signal.signal(signal.SIGTERM, lambda *_: os.killpg(server.pid, signal.SIGKILL))
    orphaned = threading.Event()
    mourner = threading.Thread(target=_bury, args=(server, alive, orphaned), daemon=True)
    mourner.start()
    code = server.wait()
    if orphaned.is_set():
        mourner.join()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(Path(alive).parent, ignore_errors=True)
    return code


def _bury(server: subprocess.Popen[bytes], alive: str, orphaned: threading.Event) -> None:
    try:
        with Path(alive).open("rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH)
    except FileNotFoundError:
        pass  # the owner removed its folder: as gone as gone can be
    orphaned.set()
    server.send_signal(signal.SIGINT)
    try:
        server.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
