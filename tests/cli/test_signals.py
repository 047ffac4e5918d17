"""A process that is told to stop ends, even when its event loop does not turn any more."""

import signal
import subprocess
import sys

import pytest

START = """
import asyncio, logging, time
from cadenza.cli.signals import listen_for_signals
logging.basicConfig()
async def main():
    stop, hurry = listen_for_signals({grace})
    print("ready", flush=True)
    {then}
asyncio.run(main())
"""
PATIENCE = 60  # seconds


def run(then: str, *, grace: float, signals: int = 1) -> tuple[int, str]:
    """Start a program, tell it to stop once it is ready; return its exit code and its log."""
    words = [sys.executable, "-c", START.format(grace=grace, then=then)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for _ in range(signals):
            assert process.stdout.readline() == "ready\n"
            process.send_signal(signal.SIGTERM)
        try:
            _, log = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            pytest.fail("it outlived the signal and its grace")
    return process.returncode, log


def test_a_blocked_loop_ends_with_the_grace_and_says_where_it_was() -> None:
    code, log = run("while True: pass", grace=0.2)
    assert code == 1
    assert "the event loop was blocked for the whole grace" in log


def test_a_loop_that_is_blocked_while_it_stops_ends_too() -> None:
    code, log = run("await stop.wait()\n    while True: pass", grace=0.2)
    assert (code, "blocked" in log) == (1, True)


def test_a_loop_that_turns_may_take_longer_than_the_grace() -> None:
    code, log = run("await stop.wait(); await asyncio.sleep(4)", grace=2)
    assert (code, log) == (0, "")


def test_the_second_signal_is_told_apart() -> None:
    then = "await stop.wait(); print('ready', flush=True); await hurry.wait()"
    code, log = run(then, grace=30, signals=2)
    assert (code, log) == (0, "")
