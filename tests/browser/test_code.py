"""The app's own checks: types against the OpenAPI document, lint, the lock, and its unit tests.

They compare and write nothing: a story in another process may be served from what is built of these files.
"""

import subprocess
from collections.abc import Callable

import pytest

from tests.servers.node import load_build

pytestmark = pytest.mark.slow

Npm = Callable[..., subprocess.CompletedProcess[str]]


def test_the_apps_types_lint_and_lock_hold(npm: Npm) -> None:
    before = load_build().fingerprint()
    said = npm("run", "check")
    assert said.returncode == 0, said.stdout + said.stderr
    assert load_build().fingerprint() == before


def test_the_apps_unit_tests_pass(npm: Npm) -> None:
    said = npm("test")
    assert said.returncode == 0, said.stdout + said.stderr
