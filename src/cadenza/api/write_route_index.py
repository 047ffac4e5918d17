"""Writes `route_index.py`: method, path, prefix and resource of every route, in the order that decides.

`python -m cadenza.api.write_client` calls it. A test compares the file with the routes.
"""

from pathlib import Path

from cadenza.api.resources import declared_routes

FILE = Path(__file__).with_name("route_index.py")
HEAD = '''"""Which file has which route; `python -m cadenza.api.write_client` writes it."""

INDEX: tuple[tuple[str, str, str, str], ...] = (
'''


def write_route_index() -> str:
    """Return the text of the file, before it is formatted."""
    lines = [
        f"    {(each.method, each.path, prefix, name)!r},\n"
        for prefix, name, each in declared_routes()
    ]
    return HEAD + "".join(lines) + ")\n"
