"""The store's scripts, one a file; the first lines say what each promises and is given.

A script is the clock, the ground that all share, and its own file, in one text: the server knows
it by its digest. Everything in one script is atomic, which is this store's transaction.
"""

from dataclasses import dataclass
from hashlib import sha1
from importlib.resources import files

_SHARED = ("ground", "sight")


@dataclass(frozen=True, slots=True)
class Script:
    """A text and the digest that the server knows it by."""

    name: str
    text: str
    digest: str


def load_scripts(channel: str, *, clock: str | None = None) -> dict[str, Script]:
    """Read every script, by the name of its file; `clock` is another clock, for tests alone."""
    texts = {
        entry.name.removesuffix(".lua"): entry.read_text(encoding="utf-8")
        for entry in files(__package__ or __name__).iterdir()
        if entry.name.endswith(".lua")
    }
    quoted = channel.replace("\\", "\\\\").replace("'", "\\'")
    shared = [clock or texts["clock"], f"local CHANNEL = '{quoted}'"]
    shared += [texts[name] for name in _SHARED]
    return {
        name: _script(name, "\n".join([*shared, text]))
        for name, text in texts.items()
        if name not in (*_SHARED, "clock")
    }


def _script(name: str, text: str) -> Script:
    return Script(name, text, sha1(text.encode(), usedforsecurity=False).hexdigest())
