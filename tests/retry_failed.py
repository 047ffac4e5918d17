"""Runs pytest, then runs a few failed tests once more without neighbors, and names those that pass.

Several processes share the machine, and some tests race real processes against real clocks. A test that fails
again alone fails the run. A test that passes alone is printed as flaky, so that someone fixes it: either the test
is wrong or the product has a race. When more than `MAX_RETRIED` tests fail, none is retried.
The run loads this file as a plugin that records which tests failed: pytest's own list misses failed subtests.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MAX_RETRIED = 3
FAILED_TESTS = Path(".pytest_cache/failed.json")  # relative to the folder where the run started

_failed: set[str] = set()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a failed test; the controller gets the reports of all processes."""
    if report.failed:
        _failed.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Save the failed tests, in the controller only."""
    if not hasattr(session.config, "workerinput"):
        FAILED_TESTS.parent.mkdir(exist_ok=True)
        FAILED_TESTS.write_text(json.dumps(sorted(_failed)))


def main(arguments: list[str]) -> int:
    """Return pytest's exit code, or 0 if every failed test passed alone."""
    pytest_command = [sys.executable, "-m", "pytest"]
    FAILED_TESTS.unlink(missing_ok=True)
    command = [*pytest_command, "-p", "tests.retry_failed", *arguments]
    code = subprocess.run(command, check=False).returncode
    ran_all = code == pytest.ExitCode.TESTS_FAILED and FAILED_TESTS.exists()
    failed: list[str] = json.loads(FAILED_TESTS.read_text()) if ran_all else []
    if not 0 < len(failed) <= MAX_RETRIED:
        return code
    print(f"\nRetrying alone: {', '.join(failed)}", flush=True)
    retry = subprocess.run([*pytest_command, "-q", "-p", "no:cacheprovider", *failed], check=False)
    if retry.returncode == 0:
        print(
            f"\nFLAKY: failed in the run, passed alone (fix them): {', '.join(failed)}", flush=True
        )
    return retry.returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
