"""The conformance suite: every promise of `engine/store.py`, as tests that any store can run.

A store's author subclasses `Conformance` in a test module and gives it one fixture:

    class TestMyStore(Conformance):
        @pytest_asyncio.fixture
        async def harness(self) -> AsyncIterator[Harness]:
            clock = VirtualClock()
            store = MyStore(clock=clock)
            await store.open()
            yield Harness(store, clock.shift)
            await store.close()

It needs pytest, pytest-asyncio and hypothesis, which the engine itself never imports. What a
store cannot do it says in its traits; then the tests of it are skipped, with that reason. One
process runs it: what happens between several writers is for race tests of the store's own.
"""

import pkgutil

import pytest

# Assertions tell what they saw, also when the suite runs from an installed package.
pytest.register_assert_rewrite(
    *(f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__))
)

from cadenza.engine.testing.conformance.harness import Harness  # noqa: E402 - after the line above
from cadenza.engine.testing.conformance.suite import Conformance  # noqa: E402 - as above

__all__ = ["Conformance", "Harness"]
