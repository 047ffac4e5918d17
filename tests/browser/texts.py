"""The app's own texts, by screen and key, so that rewording one breaks no test. Read from `web/src/messages`."""

import json
import re
from functools import cache
from pathlib import Path

MESSAGES = Path(__file__).parents[2] / "web" / "src" / "messages"
_LINE = re.compile(r'^  (\w+): (".*"),$', re.MULTILINE)


@cache
def _screen(name: str) -> dict[str, str]:
    file = (MESSAGES / f"{name}.ts").read_text(encoding="utf-8")
    return {key: json.loads(quoted) for key, quoted in _LINE.findall(file)}


def t(name: str, **values: object) -> str:
    """Return a text such as `queue.resume`, its plain parameters filled in; plurals are written out in tests."""
    screen, key = name.split(".")
    found = _screen(screen)[key]
    for parameter, value in values.items():
        found = re.sub(rf"\{{{parameter}(, number)?\}}", str(value), found)
    assert "{" not in found, f"{name} takes more parameters: {found}"
    return found
