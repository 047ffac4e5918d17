"""The store's longer statements, one a file; its first line says what it promises."""

from importlib.resources import files

_FOLDER = files(__package__ or __name__)


def load(name: str) -> str:
    """Read a statement by the name of its file, without its first line."""
    _, _, sql = (_FOLDER / f"{name}.sql").read_text(encoding="utf-8").partition("\n")
    return sql
