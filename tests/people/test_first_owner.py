"""An empty installation is opened once, by whoever holds the printed token."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from cadenza.core.clock import SystemClock
from cadenza.db.open import open_product
from cadenza.people.model import PersonRefusal, Wrong
from cadenza.people.sign_up import LOCK, offer_first_start, sign_up_first_owner
from cadenza.people.tokens import draw_token
from cadenza.sql.transactions import Operations


@dataclass
class Empty:
    """A house that nobody has moved into."""

    operations: Operations

    async def enter(self, start: str, email: str = "ada@example.org") -> object:
        return await self.operations.run(
            lambda tx, now: sign_up_first_owner(
                tx,
                now,
                start_hash=start,
                email=email,
                name="Ada",
                password_hash="hash",
                zone="Europe/Berlin",
                workspace="Ada and friends",
                approval="required",
            ),
            locks=[LOCK],
        )


@pytest.fixture
async def empty(database: str) -> AsyncIterator[Empty]:
    async with open_product(database, clock=SystemClock()) as operations:
        yield Empty(operations)


async def test_without_the_printed_token_nobody_moves_in(empty: Empty) -> None:
    assert isinstance(await empty.enter("anything"), Wrong)
    token = draw_token()
    await empty.operations.run(lambda tx, now: offer_first_start(tx, now, token_hash=token.hash))
    assert isinstance(await empty.enter("anything"), Wrong)
    assert isinstance(await empty.enter(token.hash), tuple)
    requested = "SELECT approval FROM workspace"
    assert await empty.operations.read(lambda tx, _: tx.value(requested)) == "required"


async def test_of_many_who_try_at_once_one_becomes_the_owner(empty: Empty) -> None:
    token = draw_token()
    await empty.operations.run(lambda tx, now: offer_first_start(tx, now, token_hash=token.hash))
    said = await asyncio.gather(
        *(empty.enter(token.hash, f"ada{number}@example.org") for number in range(8))
    )
    assert len([answer for answer in said if isinstance(answer, tuple)]) == 1
    assert len([answer for answer in said if isinstance(answer, PersonRefusal)]) == 7


async def test_a_house_with_an_owner_offers_no_first_start(empty: Empty) -> None:
    token = draw_token()
    await empty.operations.run(lambda tx, now: offer_first_start(tx, now, token_hash=token.hash))
    await empty.enter(token.hash)
    again = await empty.operations.run(
        lambda tx, now: offer_first_start(tx, now, token_hash=draw_token().hash)
    )
    assert again is False
