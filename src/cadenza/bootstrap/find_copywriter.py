"""Imports the copywriter that the settings name, as `package.module:object`: an object, or a class of its own.

It is looked for on Python's path and in the folder that Cadenza was started in. Whatever is wrong with it
is said when the application opens and by `cadenza config check`, never first in the night. Limit: that it has a
`write` is checked here; what that writes is known when it is asked.
"""

import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

from cadenza.drafts.write_copy import Copywriter


class BadCopywriter(Exception):
    """The name leads to no copywriter; the message says why and what to do."""


def find_copywriter(path: str) -> Copywriter | None:
    """Return the copywriter of that name; None for no name."""
    if not path:
        return None
    module_name, _, name = path.partition(":")
    found: Any = getattr(_module(module_name), name, None)
    if found is None:
        raise BadCopywriter(f"copywriter: the module {module_name!r} has no {name!r}")
    if inspect.isclass(found):
        try:
            found = found()
        except Exception as error:
            raise BadCopywriter(
                f"copywriter: {path} cannot be made without arguments: {error}"
            ) from error
    if not inspect.iscoroutinefunction(getattr(found, "write", None)):
        raise BadCopywriter(f"copywriter: {path} has no `async def write(self, brief)`")
    return found


def _module(name: str) -> object:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise BadCopywriter(
            f"copywriter: {name!r} cannot be imported from {here} or Python's path: {error}"
        ) from error
