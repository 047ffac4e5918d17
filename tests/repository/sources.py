"""What the repository rules read: our modules as syntax trees, and every tracked text file."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "cadenza"
TEXT_SUFFIXES = frozenset(
    [
        ".css",
        ".html",
        ".in",
        ".json",
        ".js",
        ".md",
        ".mjs",
        ".py",
        ".sh",
        ".sql",
        ".toml",
        ".ts",
        ".tsx",
        ".txt",
        ".yaml",
        ".yml",
    ]
)


@dataclass(frozen=True, slots=True)
class Module:
    """One module of the product."""

    path: Path
    tree: ast.Module

    @property
    def name(self) -> str:
        return self.path.relative_to(PACKAGE).as_posix()


@cache
def modules() -> tuple[Module, ...]:
    paths = sorted(PACKAGE.rglob("*.py"))
    return tuple(Module(path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths)


@cache
def tracked() -> tuple[Path, ...]:
    """List tracked files; in an unpacked archive without git, everything but hidden folders."""
    git = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if git.returncode == 0:
        paths = (ROOT / name for name in git.stdout.split("\0") if name)
        return tuple(path for path in paths if path.is_file())
    return tuple(
        path
        for path in ROOT.rglob("*")
        if path.is_file() and not any(part[0] == "." for part in path.relative_to(ROOT).parts)
    )


def tracked_text() -> Iterator[tuple[str, str]]:
    """Yield (name, text) of each tracked text file."""
    for path in tracked():
        if path.suffix in TEXT_SUFFIXES or not path.suffix:
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
