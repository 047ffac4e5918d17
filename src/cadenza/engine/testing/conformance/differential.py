"""The differential run: the same random steps on the reference and on the store under test.

After every step the answers and all that can be seen are compared; Hypothesis shrinks what
differs to the few steps that matter. It compares what is promised: order within a line, sets,
counts, room; not the order between lines, nor numbers that a store is free to choose (ids and
leases are compared through a mapping). Each run lives in queues and keys of its own.
"""

from typing import Any

from hypothesis import HealthCheck, given, note, settings

from cadenza.engine.testing.conformance.duel import Duel
from cadenza.engine.testing.conformance.harness import Harness
from cadenza.engine.testing.conformance.operations import Step, plays

USUAL = 60  # runs; a profile that asks for more than Hypothesis's hundred gets them
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


class Differing:
    """What no list of claims says: nothing else differs either."""

    @_settings
    @given(played=plays)
    async def test_it_behaves_like_the_reference(
        self, harness: Harness, played: list[Step]
    ) -> None:
        duel = await Duel.begin(harness)
        try:
            for step in played:
                note(str(step))
                await duel.play(step)
                await duel.compare()
        finally:
            await duel.clean_up()
