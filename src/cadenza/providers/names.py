"""The names of the networks, without loading their adapters: settings are read by every command.

A folder beside this file is a network if its `__init__.py` sets `PROVIDER`; its name is the network's.
"""

from functools import cache
from pathlib import Path


@cache
def provider_names() -> frozenset[str]:
    """Return the name of every network that there is an adapter for."""
    found = Path(__file__).parent.glob("*/__init__.py")
    return frozenset(file.parent.name for file in found if "\nPROVIDER = " in file.read_text())
