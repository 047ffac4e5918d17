"""Runs pytest; the few tests that failed beside others are tried once more, alone, and called by name.

Two runs of tests share the machine, and some tests race real processes against real clocks. A failure that
comes again alone is a failure. One that does not is printed as unsteady, to be mended: it is a defect of the
test or a race of the product, but no reason to throw the whole run away. More than a few are never forgiven.
The run loads this file as a plugin, which writes down what failed: pytest's own list lacks tests that fail in parts.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FAILED = 1  # pytest's word for: all ran, some failed
MOST = 3
LAST = Path(".pytest_cache/failed.json")  # of the folder that the run is started in

_failed: set[str] = set()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Hear of each test of all processes."""
    if report.failed:
        _failed.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write down what failed; the controller alone has heard of all."""
    if not hasattr(session.config, "workerinput"):
        LAST.parent.mkdir(exist_ok=True)
        LAST.write_text(json.dumps(sorted(_failed)))


def main(words: list[str]) -> int:
    """Return pytest's own code, or 0 where what failed passed alone."""
    run = [sys.executable, "-m", "pytest"]
    LAST.unlink(missing_ok=True)
    code = subprocess.run([*run, "-p", "tests.try_again", *words], check=False).returncode
    failed: list[str] = json.loads(LAST.read_text()) if code == FAILED and LAST.exists() else []
    if not 0 < len(failed) <= MOST:
        return code
    print(f"\nOnce more, alone: {', '.join(failed)}", flush=True)
    alone = subprocess.run([*run, "-q", "-p", "no:cacheprovider", *failed], check=False)
    if alone.returncode == 0:
        print(f"\nUNSTEADY, passed alone only (mend them): {', '.join(failed)}", flush=True)
    return alone.returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
