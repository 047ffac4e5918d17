"""The networks' side of tokens: which are accepted, which run out, and which were exchanged already.

An access token is accepted until it runs out, is refused out of hand, or another has taken its place. A
refresh token can be exchanged once: whoever presents it again would have every token of the account revoked,
so that is a broken promise. An exchange may be slow, fail, or lose its answer. Not judged: what a restored
database presents, as it cannot know that it was used.
"""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from cadenza.accounts.open import row_name
from cadenza.accounts.seal import Keyring, seal_tokens
from cadenza.providers.base import AttemptContext
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.providers.outcome import Disconnected, Outcome, Transient, Unconfirmed
from cadenza.sql.tx import to_microseconds
from tests.simulation.kernel import START
from tests.simulation.stage import Stage

RING = Keyring({"k": Secret("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")})
LONG = 30 * 86_400.0  # seconds that most tokens live: longer than any world
SOON = 750.0  # what was issued an hour ago and ends then is to be renewed at once
AN_HOUR = timedelta(hours=1)


@dataclass(slots=True)
class Grant:
    """What an account may present now."""

    access: str
    ends: float


class Grants:
    """All that the networks issued."""

    def __init__(self, world: Stage, violate: Callable[[str, str], None]) -> None:
        self._world = world
        self._violate = violate
        self._now: dict[str, Grant] = {}
        self._unused: dict[str, str] = {}  # refresh tokens, and whose
        self._numbers = itertools.count(1)

    def issue(self, account: str, *, life: float = LONG) -> Tokens:
        """Hand out a new pair; from here on the one before is refused."""
        number, ends = next(self._numbers), self._world.now() + life
        self._now[account] = Grant(f"access-{number}", ends)
        self._unused[f"refresh-{number}"] = account
        return Tokens(
            access=Secret(f"access-{number}"),
            refresh=Secret(f"refresh-{number}"),
            expires_at=START + timedelta(seconds=ends),
        )

    def settle_in(self, workspace: str, account: str) -> None:
        """Be connected for an hour; let the token run out, or be refused some time."""
        world = self._world
        tape = world.tape
        tokens = self.issue(account, life=tape.one_of((LONG, SOON, SOON + tape.seconds(400))))
        assert tokens.expires_at is not None
        world.raw.execute(
            "UPDATE account SET sealed = ?, token_issued_at = ?, token_expires_at = ? WHERE id = ?",
            (
                seal_tokens(RING, tokens, row=row_name(workspace, account)),
                to_microseconds(START - AN_HOUR),
                to_microseconds(tokens.expires_at),
                account,
            ),
        )
        if tape.below(2):
            world.outside(tape.seconds(500), lambda: self._refuse(account))

    def _refuse(self, account: str) -> None:
        if self._world.healed_at is None:
            self._world.tell("token", f"{account}'s is refused from now on")
            self._now[account].ends = self._world.now()

    def accepts(self, account: str, access: Secret) -> bool:
        """Say whether a call with this token is let in."""
        grant = self._now[account]
        return access.reveal() == grant.access and self._world.now() < grant.ends

    async def exchange(self, call: AttemptContext) -> Tokens | Outcome:
        """Give a new pair for a refresh token, once."""
        world, account = self._world, call.account.id
        await world.step("exchange", longest=1)
        fault = 1 + world.tape.below(3) if world.trouble("exchange") else 0
        if fault == 1:
            return Transient("the network is out of order")
        presented = "" if call.tokens.refresh is None else call.tokens.refresh.reveal()
        if self._unused.pop(presented, None) is None:
            if not world.era:
                self._violate("P16", f"{account}'s {presented} was presented again")
            return Disconnected("this token was used")
        fresh = self.issue(account)
        world.tell("token", f"{account} got {fresh.access.reveal()} for {presented}")
        if fault == 2:
            await asyncio.sleep(5 + world.tape.seconds(50))
        await world.step("answer", longest=1)
        return Unconfirmed("the connection broke") if fault == 3 else fresh
