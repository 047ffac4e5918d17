"""The commands of a page: its fenced `console` and `sh` blocks, in order, as one shell script.

A block that our tests cannot run is marked for readers and for us by the line before it, which begins with
"Not run by our tests:" and says why. Commands that stay (up, demo, simulate) are begun in the background; the
next line waits for their greeting, and at the end each is asked to stop.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"(?P<before>[^\n]*)\n+```(?P<kind>\w+)\n(?P<text>.*?)```", re.DOTALL)
NOT_RUN = "Not run by our tests:"
STAYS = re.compile(r"^cadenza (up|demo|serve|simulate)\b")
PASSWORD = "four plain words here"
HEAD = """
set -eEuo pipefail
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
begun=()
begin() {
  local log="begun-${#begun[@]}.log"
  PATH="$REAL_PATH" "$@" > "$log" 2>&1 < /dev/null &
  local pid=$!
  begun+=("$pid")
  until grep -q 'Ctrl-C' "$log"; do
    if ! kill -0 "$pid" 2> /dev/null; then cat "$log" >&2; return 1; fi
    sleep 0.2
  done
}
finish() {
  for pid in "${begun[@]}"; do kill -TERM "$pid"; wait "$pid"; done
  begun=()
}
"""


@dataclass(frozen=True, slots=True)
class Block:
    kind: str
    text: str
    not_run: str | None  # why

    @property
    def lines(self) -> list[str]:
        """Return its commands; a console shows them behind a $, and what they print without."""
        joined = self.text.replace("\\\n", " ")
        if self.kind == "sh":
            return [line for line in joined.splitlines() if line.strip()]
        return [line[2:] for line in joined.splitlines() if line.startswith("$ ")]


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    for match in FENCE.finditer("\n" + page.read_text(encoding="utf-8")):
        if match["kind"] in ("console", "sh"):
            before = match["before"].strip("*_ ")
            why = before.removeprefix(NOT_RUN).strip() if before.startswith(NOT_RUN) else None
            found.append(Block(match["kind"], match["text"], why))
    return found


def script(page: Path) -> str:
    """Write what a reader would type, in order."""
    lines = [line for block in blocks(page) if block.not_run is None for line in block.lines]
    return HEAD + "\n".join(map(_typed, lines)) + "\nfinish\n"


def _typed(line: str) -> str:
    line = line.removeprefix(".venv/bin/")
    if STAYS.match(line):
        return f"begin {line}"
    if line.startswith("cadenza person create"):
        return f"{line} <<< '{PASSWORD}'"
    return line
