"""Eight processes that race for one store; the parent tells them all at once and hears each."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
STOP = "stop"  # ends what a hand does until it is told; it is no command of its own


class HandFailed(Exception):
    """A hand could not do what it was told, or was stuck with it."""


class Crew:
    """Hands in processes of their own (see `hand.py`)."""

    def __init__(self, size: int) -> None:
        self._hands = [
            subprocess.Popen(
                [sys.executable, "-m", "tests.races.hand"],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(size)
        ]
        self._told = [0] * size

    def __len__(self) -> int:
        return len(self._hands)

    def tell(self, number: int, do: str, **arguments: Any) -> None:
        """Tell one hand, and do not wait."""
        stdin = self._hands[number].stdin
        assert stdin is not None
        if do != STOP:
            self._told[number] += 1
        stdin.write(json.dumps({"do": do, "told": self._told[number], **arguments}) + "\n")
        stdin.flush()

    def hear(self, number: int) -> Any:
        """Wait for one hand's answer to what it was told last."""
        stdout = self._hands[number].stdout
        assert stdout is not None
        while line := stdout.readline():
            answer = json.loads(line)
            if answer["told"] == self._told[number]:  # earlier ones belong to a race that failed
                if "error" in answer:
                    raise HandFailed(answer["error"])
                return answer["answer"]
        raise HandFailed("its process ended")

    def all_do(self, do: str, **arguments: Any) -> list[Any]:
        """Tell all the same at once; wait for all."""
        for number in range(len(self)):
            self.tell(number, do, **arguments)
        return self.hear_all()

    def hear_all(self) -> list[Any]:
        return [self.hear(number) for number in range(len(self))]

    def dismiss(self) -> None:
        for hand in self._hands:
            assert hand.stdin is not None
            hand.stdin.close()
        for hand in self._hands:
            hand.wait(timeout=30)
            assert hand.stdout is not None
            hand.stdout.close()
