"""A failed test is retried once, alone: it passes and is named as flaky, or the run fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALWAYS = "def test_never_passes(): assert False\n"
ONCE = """
from pathlib import Path
def test_passes_the_second_time():
    seen = Path("seen").exists()
    Path("seen").touch()
    assert seen
"""
MANY = "import pytest\n@pytest.mark.parametrize('n', range(4))\ndef test_many(n): assert False\n"
SUBTESTS = f"""{ONCE}
def test_the_first_of_two_fails(subtests):
    for part in range(2):
        with subtests.test(part=part):
            assert part
"""


@pytest.mark.parametrize(
    ("source", "code", "retried"),
    [
        ("def test_fine(): pass\n", 0, False),
        (ONCE, 0, True),
        (ALWAYS, 1, True),
        (MANY, 1, False),
        (SUBTESTS, 1, True),
    ],
    ids=["passes", "flaky", "fails", "many fail", "a subtest fails beside a flaky one"],
)
def test_a_few_failed_tests_are_retried_and_named(
    tmp_path: Path, source: str, code: int, retried: bool
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(source)
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.retry_failed", "-q", "-p", "no:randomly"]
    ran = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert ran.returncode == code, ran.stdout
    assert ("Retrying alone" in ran.stdout) is retried
    assert ("FLAKY" in ran.stdout) is (retried and code == 0)
