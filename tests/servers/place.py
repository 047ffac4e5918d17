"""Where a private server lives and as whom it runs.

PostgreSQL refuses to run as root, so under root it runs as `nobody`, who must be able to
reach both its folder and its binaries. Paths are kept short because a unix socket's path
may have about 100 bytes.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

KEEPER = Path(__file__).with_name("keeper.py")
LONGEST_FOLDER = 60
JUST_MADE_SECONDS = 60
MEMORY = Path("/dev/shm")
GIB = 1024**3


class ServerUnavailableError(Exception):
    """No such server can be had on this machine; the message says what to install."""


@dataclass(frozen=True, slots=True)
class Drop:
    """The user that a server runs as; -1 means: as ourselves."""

    uid: int = -1
    gid: int = -1

    @property
    def popen(self) -> dict[str, int | list[int]]:
        if self.uid < 0:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def unprivileged() -> Drop:
    """Name the user for a server that will not run as root."""
    if os.geteuid() != 0:
        return Drop()
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise ServerUnavailableError(
            "PostgreSQL will not run as root and there is no user `nobody`; run as another user"
        ) from None
    return Drop(nobody.pw_uid, nobody.pw_gid)


def reachable(path: Path, drop: Drop) -> bool:
    """Tell whether the server's user can walk to `path` and read it."""
    if drop.uid < 0:
        return True
    resolved = path.resolve()
    walk = all(parent.stat().st_mode & 0o001 for parent in resolved.parents)
    return walk and bool(resolved.stat().st_mode & 0o004)


def stay_in_memory() -> None:
    """Let all that a run writes stay in memory, where there is room: no test is about the disk.

    SQLite waits for the disk at each commit and a PostgreSQL database is hundreds of files: on a disk,
    tests wait more than they work. Whoever names a TMPDIR has it.
    """
    if "TMPDIR" not in os.environ and _roomy():
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


def _roomy() -> bool:
    try:
        facts = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        files = os.statvfs(MEMORY)
    except OSError:
        return False
    available = int(facts["MemAvailable"].split()[0]) * 1024
    return available >= 8 * GIB and files.f_bavail * files.f_frsize >= 4 * GIB


def new_folder(name: str, drop: Drop | None = None, *, within: Path | None = None) -> Path:
    """Make a short-named folder that the server's user owns."""
    drop = drop or Drop()
    folder = Path(tempfile.mkdtemp(prefix=f"cadenza-{name}-", dir=within or _base(drop)))
    if drop.uid >= 0:
        os.chown(folder, drop.uid, drop.gid)
    return folder


def _base(drop: Drop) -> Path:
    for candidate in (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")):
        short = len(str(candidate)) <= LONGEST_FOLDER - 30
        if short and candidate.is_dir() and os.access(candidate, os.W_OK):
            probe = candidate.resolve()
            walkable = all(p.stat().st_mode & 0o001 for p in (probe, *probe.parents))
            if drop.uid < 0 or walkable:
                return candidate
    raise ServerUnavailableError(
        "found no short, public temporary folder (tried TMPDIR, /tmp, /var/tmp); set TMPDIR"
    )


def bring_near(install: Path, folder: Path, drop: Drop) -> Path:
    """Return `install`, or a copy in `folder` where the server's user cannot reach it."""
    if reachable(install / "bin" / "postgres", drop):
        return install
    # A wheel's binaries look for their libraries beside the package, so the copy keeps the shape.
    package = install.parent
    copy = folder / "near" / package.name / install.name
    shutil.copytree(install, copy, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, folder / "near" / libraries.name)
    for made in (folder / "near", copy.parent, copy):
        made.chmod(0o755)
    return copy


def sweep() -> None:
    """Remove folders of runs that were killed before they had a keeper to tidy up."""
    for alive in _base(Drop()).glob("cadenza-*-*/alive"):
        try:
            if time.time() - alive.stat().st_mtime < JUST_MADE_SECONDS:
                continue  # its owner may not hold the lock yet
            with alive.open("rb") as handle:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            continue  # held, gone, or another user's
        shutil.rmtree(alive.parent, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def hold(alive: Path) -> IO[bytes]:
    """Take the lock that keepers wait for; closing the file (or dying) lets it go."""
    handle = alive.open("ab")
    fcntl.flock(handle, fcntl.LOCK_EX)
    alive.chmod(0o644)
    return handle


def keep(command: list[str], *, alive: Path, folder: Path, drop: Drop) -> subprocess.Popen[bytes]:
    """Start a server under a keeper, in its own session so that Ctrl-C is ours alone."""
    keeper = [sys.executable, "-I", "-S", str(KEEPER), str(alive), str(folder)]
    return subprocess.Popen(
        [*keeper, str(drop.uid), str(drop.gid), "--", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
    )


def running(pid: int, *, folder: Path) -> bool:
    """Tell whether `pid` lives and is the server of `folder`, not a stranger with its number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    try:
        home = (Path("/proc") / str(pid) / "cwd").readlink()
    except OSError:
        return not Path("/proc/self").exists()  # no /proc here: the number must do
    return home == folder or folder in home.parents


def end(pid: int | None, how: signal.Signals, *, folder: Path, patience: float) -> None:
    """Send `how` to the server of `folder` and wait until it is gone."""
    if pid is None:
        return
    os.kill(pid, how)
    deadline = time.monotonic() + patience
    while running(pid, folder=folder):
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            deadline += patience
        time.sleep(0.005)


def dismiss(keeper: subprocess.Popen[bytes] | None, *, patience: float) -> None:
    """Wait for a keeper whose server has ended; one that lingers is told to end it."""
    if keeper is None:
        return
    try:
        keeper.wait(patience)
    except subprocess.TimeoutExpired:
        keeper.terminate()
        keeper.wait()


def forget(keeper: subprocess.Popen[bytes] | None) -> None:
    """Let go of a keeper that outlives us, without Popen's warning that it still runs."""
    if keeper is not None:
        keeper.returncode = 0
