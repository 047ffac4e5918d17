"""What failed beside others is tried alone once: it passes then and is named, or the run fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
ALWAYS = "def test_never_passes(): assert False\n"
ONCE = """
from pathlib import Path
def test_passes_the_second_time():
    seen = Path("seen").exists()
    Path("seen").touch()
    assert seen
"""
MANY = "import pytest\n@pytest.mark.parametrize('n', range(4))\ndef test_many(n): assert False\n"
IN_PARTS = f"""{ONCE}
def test_the_first_of_two_fails(subtests):
    for part in range(2):
        with subtests.test(part=part):
            assert part
"""


@pytest.mark.parametrize(
    ("source", "code", "tried"),
    [
        ("def test_fine(): pass\n", 0, False),
        (ONCE, 0, True),
        (ALWAYS, 1, True),
        (MANY, 1, False),
        (IN_PARTS, 1, True),
    ],
    ids=["passes", "unsteady", "fails", "many fail", "a part fails beside an unsteady one"],
)
def test_only_few_are_tried_again_and_none_in_silence(
    tmp_path: Path, source: str, code: int, tried: bool
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(source)
    env = os.environ | {"PYTHONPATH": str(HOUSE)}
    command = [sys.executable, "-m", "tests.try_again", "-q", "-p", "no:randomly"]
    ran = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert ran.returncode == code, ran.stdout
    assert ("Once more, alone" in ran.stdout) is tried
    assert ("UNSTEADY" in ran.stdout) is (tried and code == 0)
