"""Packages that offer names without loading them: a command that needs one value does not load the rest.

`__getattr__ = names_from(__name__, {"Engine": "client"})` lets `from cadenza.engine import Engine` load
`cadenza.engine.client` at that moment, and `import cadenza.engine.errors` load nothing more than that.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names_from(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package: `homes` says in which of its modules each name is."""

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return find
