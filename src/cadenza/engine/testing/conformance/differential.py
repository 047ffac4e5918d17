"""The differential run: the same random steps on the reference and on the store under test.

After every step the answers and all that can be seen are compared; Hypothesis shrinks what
differs to the few steps that matter. It compares what is promised: order within a line, sets,
counts, room; not the order between lines, nor numbers that a store is free to choose (ids and
leases are compared through a mapping). Each run lives in queues and keys of its own.
"""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings

from cadenza.engine.testing.conformance.comparison import Comparison
from cadenza.engine.testing.conformance.harness import Harness
from cadenza.engine.testing.conformance.operations import Step, plays

USUAL = 60  # runs; a profile that asks for more than Hypothesis's hundred gets them
SHRINKING = 4000  # steps
_asked = settings.default.max_examples if settings.default is not None else USUAL

_settings: Any = settings(
    max_examples=_asked if _asked > 100 else USUAL,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,  # each run has names of its own instead
        HealthCheck.differing_executors,  # one suite, many stores
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)


class Patience:
    """Bounds the shrinking: real stores are slow, and a short failing run is good enough."""

    def __init__(self) -> None:
        self._failed: set[str] = set()
        self._steps = 0

    def ends(self, played: list[Step]) -> bool:
        """Say whether to pass over a run: one not yet known to fail, once enough were tried."""
        return self._steps > SHRINKING and str(played) not in self._failed

    def spend(self) -> None:
        """Count a step, once something has failed."""
        self._steps += bool(self._failed)

    def note_failure(self, played: list[Step]) -> None:
        """Remember a run that failed: it must fail again when Hypothesis replays it."""
        self._failed.add(str(played))


class Differing:
    """What no list of claims says: nothing else differs either."""

    @pytest.fixture
    def patience(self) -> Patience:
        """One for all runs of a test."""
        return Patience()

    @_settings
    @given(played=plays())
    async def test_it_behaves_like_the_reference(
        self, harness: Harness, patience: Patience, played: list[Step]
    ) -> None:
        if harness.drift:
            pytest.skip("the clock runs by itself; the runs are compared at equal instants only")
        if patience.ends(played):
            return
        comparison = await Comparison.begin(harness)
        at = "the beginning"
        try:
            for number, step in enumerate(played):
                patience.spend()
                at = f"step {number}: {step}"
                await comparison.play(step)
                await comparison.compare()
        except AssertionError:
            note(at)
            patience.note_failure(played)
            raise
        finally:
            await comparison.clean_up()
