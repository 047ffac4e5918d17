"""A store whose driver is not installed says what to install."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
sys.modules[sys.argv[1]] = None  # as if it were not installed
from cadenza.engine import Engine
try:
    Engine(sys.argv[2])
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("driver", "address", "extra"),
    [
        ("redis", "redis://localhost", "redis"),
        ("hiredis", "redis://localhost", "redis"),
        ("pymongo", "mongodb://localhost/jobs", "mongo"),
    ],
)
def test_a_missing_driver_is_named_with_what_to_install(
    driver: str, address: str, extra: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, driver, address], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("MissingTrait "), done.stdout + done.stderr
    assert f"pip install 'cadenza[{extra}]'" in done.stdout
