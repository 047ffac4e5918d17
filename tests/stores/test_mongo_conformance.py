"""The MongoDB store against the shipped conformance suite."""

from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, given, settings

from cadenza.engine.store import Store
from cadenza.engine.testing.conformance import Conformance, Harness
from cadenza.engine.testing.conformance.comparison import Comparison
from cadenza.engine.testing.conformance.differential import Patience
from cadenza.engine.testing.conformance.operations import Step, plays
from cadenza.engine.testing.mongo_clock import StoppedClockStore

_ASKED = settings.default.max_examples if settings.default is not None else 0


class TestMongo(Conformance):
    @pytest.fixture
    async def harness(self, mongo_database: str) -> AsyncIterator[Harness]:
        store = StoppedClockStore(mongo_database)
        await store.open()

        async def open_peer() -> Store:
            peer = StoppedClockStore(mongo_database)
            await peer.open()
            return peer

        yield Harness(store, store.shift, peer=open_peer)
        await store.close()

    # Sixty random runs take minutes on the stand-in, which has no indexes; ask for more by profile.
    @settings(
        max_examples=max(8, _ASKED if _ASKED > 100 else 0),
        deadline=None,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.differing_executors,
        ],
    )
    @given(played=plays())
    async def test_it_behaves_like_the_reference(
        self, harness: Harness, patience: Patience, played: list[Step]
    ) -> None:
        if patience.ends(played):
            return
        comparison = await Comparison.begin(harness)
        try:
            for step in played:
                patience.spend()
                await comparison.play(step)
                await comparison.compare()
        except AssertionError:
            patience.note_failure(played)
            raise
        finally:
            await comparison.clean_up()
