"""The app's own checks: types against the OpenAPI document, lint, the lock, and its unit tests."""

import subprocess
from collections.abc import Callable

Npm = Callable[..., subprocess.CompletedProcess[str]]


def test_the_apps_types_lint_and_lock_hold(npm: Npm) -> None:
    said = npm("run", "check")
    assert said.returncode == 0, said.stdout + said.stderr


def test_the_apps_unit_tests_pass(npm: Npm) -> None:
    said = npm("test")
    assert said.returncode == 0, said.stdout + said.stderr
