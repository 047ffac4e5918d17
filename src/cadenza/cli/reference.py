"""Writes docs/reference from the code: every command, every setting, every problem: `python -m cadenza.cli.reference`.

Commands come from the command tree, settings from the settings' own classes, problems from the calls in the API
that raise them. A test compares the pages with the code. Limit: a problem whose name is put together while the
program runs is shown with `…` for that part.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from http import HTTPStatus
from pathlib import Path

from cadenza.cli.run import make_app
from cadenza.config.load import SECTIONS, variable
from cadenza.config.model import Network, Settings
from cadenza.config.say import SAYS

SOURCE = Path(__file__).parents[1]
PAGES = SOURCE.parents[1] / "docs" / "reference"
MADE = "<!-- Made by `python -m cadenza.cli.reference`: do not change it by hand. -->\n\n"
OWN = {"origins", "unread", "providers", *SECTIONS}
# What nearly every command takes is told once, at the head of the page.
EVERYWHERE = ("--server", "--key", "--workspace", "--as", "--config")
RAISED = {"Problem": (0, 1, 2), "conflict": (None, 0, 1), "Refused": (None, 1, 0)}


def write_reference() -> dict[str, str]:
    """Return each page's text by its name."""
    return {
        "command-line.md": MADE + write_commands(),
        "settings.md": MADE + write_settings(),
        "problems.md": MADE + write_problems(),
    }


def write_commands() -> str:
    """Tell every command with its arguments."""
    text = make_app().generate_docs(output_format="markdown", recursive=True)
    lines = [line.rstrip() for line in text.splitlines() if not _is_everywhere(line)]
    body = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).replace("```console", "```text")
    # Usage names how this very process was started: `python -m …` is no part of a command.
    body = re.sub(r"^(cadenza\b[ a-z-]*?) -m \S+", r"\1", body, flags=re.MULTILINE)
    body = re.sub(r"\*\*Parameters\*\*:\n\n(?=#|\Z)", "", body)
    return body.replace("# cadenza\n", "# Commands\n\n" + COMMON, 1).rstrip() + "\n"


COMMON = """\
Commands about a workspace take these besides their own:

- `--server URL`, `--key KEY`: work on a server (`CADENZA_SERVER`, `CADENZA_KEY`) instead of the local database.
- `--workspace NAME`: which one, where there are several (`CADENZA_WORKSPACE`). A key knows its own.
- `--as ADDRESS`: on the local database, act as this person (`CADENZA_AS`) and not as the owner.
- `--config FILE`: the settings file of the local database.
- `--json`: print for programs; times are UTC.

Exit codes: 0 done; 1 refused, with the reason in one line; 2 used wrongly; 3 the store or the server is away;
130 ended by Ctrl-C.

"""


def write_settings() -> str:
    """Tell every setting with its variable and its default."""
    rows = [
        f"| `{key}` | `{variable(key)}` | {_default(value)} | {SAYS.get(key, '')} |"
        for key, value in settings_keys()
    ]
    head = (
        "# Settings\n\nA key in `cadenza.toml` (`mail.host` is `host` under `[mail]`), or a variable of the "
        "environment, which wins.\n`cadenza config check` shows what is set, and from where.\n\n"
        "| key | variable | default | what it does |\n|---|---|---|---|\n"
    )
    return head + "\n".join(rows) + "\n"


def settings_keys() -> Iterator[tuple[str, object]]:
    """Yield every key with its default; a network's under the name NETWORK."""
    usual = Settings()
    for field in fields(usual):
        if field.name not in OWN:
            yield field.name, getattr(usual, field.name)
    for section in SECTIONS:
        part = getattr(usual, section)
        assert is_dataclass(part)
        for field in fields(part):
            yield f"{section}.{field.name}", getattr(part, field.name)
    for name in ("base_url", "client_id", "client_secret", "options.NAME"):
        yield f"providers.NETWORK.{name}", ""
    yield "providers.NETWORK.reuse_seconds", Network().reuse_seconds


def write_problems() -> str:
    """Tell every refusal of the API by its stable name."""
    found: dict[tuple[str, str], set[str]] = {}
    for status, code, message in problems():
        found.setdefault((status, code), set()).add(message)
    rows = [
        f"| {status} | `{code}` | {' / '.join(sorted(each))} |"
        for (status, code), each in sorted(found.items())
    ]
    head = (
        "# Problems\n\nEvery refusal of the API is `application/problem+json`; its `type` is "
        "`urn:cadenza:problem:` and one of these names.\nNothing was changed. In the Python client "
        "`Problem.code` is the name. `…` stands for what only the moment knows.\n\n"
        "| status | name | says |\n|---|---|---|\n"
    )
    return head + "\n".join(rows) + "\n"


def problems() -> Iterator[tuple[str, str, str]]:
    """Yield status, name and words of every problem that the code can raise."""
    for path in sorted([*(SOURCE / "api").glob("*.py"), *(SOURCE / "people").glob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            places = RAISED.get(node.func.id)
            if places is None:
                continue
            status, code, message = (None if p is None else _argument(node, p) for p in places)
            if code and message:
                yield status or "409", code, message
    yield "422", "invalid_input", "… (every wrong field is in `errors`)"
    yield "404", "not_found", "There is no … of that id here."
    yield "429", "too_often", "Too many tries: come back in … seconds."


def _argument(call: ast.Call, place: int) -> str | None:
    if len(call.args) <= place:
        return None
    return _words(call.args[place])


def _words(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=str() | int() as value):
            return str(value)
        case ast.JoinedStr(values=parts):
            return "".join(_words(part) or "…" for part in parts)
        case ast.Attribute(value=ast.Name(id="HTTPStatus"), attr=name):
            return str(HTTPStatus[name].value)
        case _:
            return None


def _is_everywhere(line: str) -> bool:
    taken = (*(f"* `{name} " for name in EVERYWHERE), "* `--json`: Print JSON, for programs. Times")
    return line.startswith(taken)


def _default(value: object) -> str:
    if value in ("", None, ()):
        return ""
    return f"`{value}`"


def main() -> None:
    """Write the pages of this checkout."""
    PAGES.mkdir(exist_ok=True)
    for name, text in write_reference().items():
        (PAGES / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
