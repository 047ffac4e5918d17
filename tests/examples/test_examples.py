"""Every example runs as its first lines say, and says what it is meant to show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOWS = {
    "classic.py": [
        "  once, then it removes itself",
        r"(  every second\n(  \(idle\)\n)?){3}",
        "left in the table: every second, not ours",
    ],
    "embed_in_asyncio_app.py": ["customer ada-1: inserted job", "order ben-2 confirmed"],
    "hello.py": [
        "existing job 3",
        "hello, Ada",
        "message to person 10",
        "worked at attempt 2",
        r"tick +scheduled for",
        r"stopped; \d+ done in default, 10 done in mail",
    ],
    "pacing.py": [
        r"0\.[89] s  Ada \(paced\) sends message 5",
        "asked again, attempt 1",
        "news is paused: Cy wants to read it first",
    ],
    "progress.py": ["attempt 2 begins after page 6", "imported 10 pages"],
    "retries.py": [
        r'call_the_bank: done, 3 attempts; output "transferred"',
        "parse: failed, 1 attempts",
        "wait_for_morning: canceled, 0 attempts",
        r"redriven from the dead letter: \[2\]",
    ],
    "schedules.py": ["Sun 29 Mar 03:30 .*gap", "5 runs in three days", "away: 2 runs"],
    "transactional.py": ["neither the order nor its job was kept", "1 job in the store"],
}


def test_every_example_is_run_here() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == SHOWS.keys()


@pytest.mark.parametrize("name", sorted(SHOWS.keys() - {"hello.py"}))
def test_an_example_shows_what_it_promises(name: str, tmp_path: Path) -> None:
    check(name, run_example(name, tmp_path))


def test_the_transaction_may_be_postgresqls(tmp_path: Path, postgres_database: str) -> None:
    out = run_example("transactional.py", tmp_path, postgres_database)
    assert "neither the order nor its job was kept" in out
    assert "1 job in the store" in out


@pytest.mark.slow
def test_hello_works_and_what_it_left_can_be_looked_at_as_it_says(tmp_path: Path) -> None:
    out = run_example("hello.py", tmp_path, "--once")
    check("hello.py", out)
    words = re.findall(r"look with: cadenza (.*)", out)[0].split()
    script = "from cadenza.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(r"done +mail +write_to", done.stdout)


def check(name: str, out: str) -> None:
    for wanted in SHOWS[name]:
        assert re.search(wanted, out), f"{wanted!r} is not in:\n{out}"


def run_example(name: str, folder: Path, *words: str) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "CADENZA_STORE"}
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout
