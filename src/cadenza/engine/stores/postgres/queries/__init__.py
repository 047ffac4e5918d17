"""The store's statements, one a file; its first line says what it promises under concurrency.

They are written for the schema `cadenza`; `Queries` puts the configured one in its place.
"""

from functools import lru_cache
from importlib.resources import files


def quote_identifier(name: str) -> str:
    """Quote a schema's name for SQL."""
    return '"' + name.replace('"', '""') + '"'


@lru_cache(maxsize=8)
def load_queries(schema: str) -> dict[str, str]:
    """Read every statement, by the name of its file."""
    return {
        entry.name.removesuffix(".sql"): in_schema(entry.read_text(encoding="utf-8"), schema)
        for entry in files(__package__ or __name__).iterdir()
        if entry.name.endswith(".sql")
    }


def in_schema(sql: str, schema: str) -> str:
    """Point a statement at a schema."""
    return sql if schema == "cadenza" else sql.replace("cadenza.", quote_identifier(schema) + ".")
