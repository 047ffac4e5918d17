"""One caller who floods is slowed down, and the others are served."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from cadenza.api.rate_limit import COURTESY, LONGEST, REMEMBERED, FairQueue, Pace, TokenBucket
from cadenza.core.clock import SystemClock
from cadenza.people.tokens import hash_token
from tests.api.conftest import Place


async def test_a_flood_of_one_leaves_the_others_alone(small: Place) -> None:
    small.app.state.bucket = TokenBucket(small.runtime.clock, Pace(per_second=0.01, at_once=5))
    flood = await small.client("viewer")
    said = [(await flood.get("/api/v1/me")).status_code for _ in range(8)]
    assert said == [200] * 5 + [429] * 3
    refused = await flood.get("/api/v1/me")
    assert int(refused.headers["retry-after"]) >= 1
    other = await small.client("editor")
    assert (await other.get("/api/v1/me")).status_code == 200


async def test_a_flood_of_one_workspace_leaves_the_others_alone(small: Place) -> None:
    slow = Pace(per_second=0.01, at_once=5)
    small.app.state.bucket = TokenBucket(small.runtime.clock, shared=slow)
    home = "/api/v1/workspaces/home-of-ada"
    flood = [await small.client("viewer"), await small.client("editor")]
    said = [(await each.get(home)).status_code for _ in range(4) for each in flood]
    assert said == [200] * 5 + [429] * 3, "its people share what it has"
    refused = await flood[0].get(home)
    assert int(refused.headers["retry-after"]) >= 1
    assert refused.json()["type"].endswith("too_many")
    other = await small.client("ben")
    assert (await other.get("/api/v1/workspaces/home-of-ben")).status_code == 200


async def test_strangers_take_nothing_from_a_workspace(small: Place) -> None:
    small.app.state.bucket = TokenBucket(
        small.runtime.clock, shared=Pace(per_second=0.01, at_once=1)
    )
    stranger = await small.client("ben")
    for _ in range(3):
        assert (await stranger.get("/api/v1/workspaces/home-of-ada")).status_code == 404
    viewer = await small.client("viewer")
    assert (await viewer.get("/api/v1/workspaces/home-of-ada")).status_code == 200


async def test_keys_that_open_nothing_are_slowed_down_by_their_address(small: Place) -> None:
    small.app.state.bucket = TokenBucket(small.runtime.clock, Pace(per_second=0.01, at_once=5))
    guesser = await small.client(authorization="Bearer cad_nobody_knows-this-key")
    said = [(await guesser.get("/api/v1/key")).status_code for _ in range(8)]
    assert said == [401] * 5 + [429] * 3
    viewer = await small.client("viewer")
    assert (await viewer.get("/api/v1/me")).status_code == 200
    elsewhere = await small.client(
        address="198.51.100.7", authorization="Bearer cad_nobody_knows-this-key"
    )
    assert (await elsewhere.get("/api/v1/key")).status_code == 401


def test_the_least_used_are_forgotten() -> None:
    bucket = TokenBucket(SystemClock(), Pace(per_second=0.001, at_once=1))
    assert bucket.take("ada") == 0
    assert bucket.take("ada") > 0
    for number in range(REMEMBERED):
        bucket.take(f"stranger {number}")
    assert bucket.take("ada") == 0


async def test_a_caller_waits_in_their_own_line_and_others_pass_by() -> None:
    fair_queue = FairQueue(at_once=2)
    served: list[str] = []
    go_on = asyncio.Event()

    async def ask(who: str) -> None:
        async with fair_queue.take(who):
            served.append(who)
            await go_on.wait()

    async with asyncio.TaskGroup() as group:
        crowd = [group.create_task(ask("ada")) for _ in range(5)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        group.create_task(ask("ben"))
        await asyncio.sleep(0)
        assert served == ["ada", "ada", "ben"]
        crowd[-1].cancel()  # whoever goes away leaves the line
        go_on.set()
    assert served == ["ada", "ada", "ben", "ada", "ada"]
    assert fair_queue == FairQueue(at_once=2), "nobody is remembered"


async def test_who_asks_a_little_too_fast_is_served_at_the_pace_and_not_refused(
    small: Place,
) -> None:
    small.app.state.bucket = TokenBucket(small.runtime.clock, Pace(per_second=20, at_once=2))
    viewer = await small.client("viewer")
    began = small.runtime.clock.monotonic()
    answers = await asyncio.gather(*(viewer.get("/api/v1/me") for _ in range(12)))
    assert [answer.status_code for answer in answers] == [200] * 12
    assert small.runtime.clock.monotonic() - began >= 0.45  # ten of them waited their twentieth


async def test_a_line_that_is_too_long_is_not_joined(small: Place) -> None:
    viewer = await small.client("viewer")
    small.app.state.fair_queue = fair_queue = FairQueue(at_once=1)
    token = hash_token(viewer.cookies["cadenza"])

    async def stand() -> None:
        async with fair_queue.take(token):
            await asyncio.Event().wait()

    crowd = [asyncio.ensure_future(stand()) for _ in range(LONGEST)]
    await asyncio.sleep(0)
    refused = await viewer.get("/api/v1/me")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    for each in crowd:
        each.cancel()
    await asyncio.gather(*crowd, return_exceptions=True)
    assert (await viewer.get("/api/v1/me")).status_code == 200


async def test_the_hasty_are_served_one_at_a_time() -> None:
    fair_queue = FairQueue(at_once=3)
    in_hand = most = 0

    async def ask(*, hasty: bool) -> None:
        nonlocal in_hand, most
        async with fair_queue.take("ada", hasty=hasty):
            in_hand += 1
            most = max(most, in_hand)
            await asyncio.sleep(0.001)
            in_hand -= 1

    await asyncio.gather(*(ask(hasty=True) for _ in range(6)))
    assert most == 1
    await asyncio.gather(*(ask(hasty=False) for _ in range(6)))
    assert most == 3
    assert fair_queue == FairQueue(at_once=3), "nobody is remembered"


async def test_the_hasty_let_others_go_first_but_not_for_ever() -> None:
    fair_queue = FairQueue()
    served: list[str] = []
    go_on = asyncio.Event()

    async def ask(who: str, *, hasty: bool) -> None:
        async with fair_queue.take(who, hasty=hasty):
            served.append(who)
            if who == "ben":
                await go_on.wait()

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(ask("ben", hasty=False))
        await asyncio.sleep(0)
        behind = group.create_task(ask("ada", hasty=True))
        await asyncio.sleep(COURTESY / 4)
        assert served == ["ben"]
        await behind
        group.create_task(ask("ada", hasty=True))
        go_on.set()
    assert served == ["ben", "ada", "ada"]
    began = asyncio.get_running_loop().time()
    async with fair_queue.take("ada", hasty=True):
        assert asyncio.get_running_loop().time() - began < COURTESY, "nobody is there"


async def test_a_caller_becomes_hasty_by_asking_for_more_than_a_page_needs(small: Place) -> None:
    taken = watch_turns(small)
    small.app.state.haste_bucket = TokenBucket(
        small.runtime.clock, Pace(per_second=0.001, at_once=4)
    )
    viewer, editor = await small.client("viewer"), await small.client("editor")
    for _ in range(6):
        assert (await viewer.get("/api/v1/me")).status_code == 200
    assert (await editor.get("/api/v1/me")).status_code == 200
    assert [hasty for _, hasty in taken] == [False] * 4 + [True] * 2 + [False]


async def test_nobody_gets_a_second_line_by_dressing_up_a_token(small: Place) -> None:
    taken = watch_turns(small)
    viewer = await small.client("viewer")
    plain = f"cadenza={viewer.cookies['cadenza']}"
    viewer.cookies.clear()
    for cookie in (plain, f"{plain}; other=1", f"more=2; {plain}"):
        assert (await viewer.get("/api/v1/me", headers={"cookie": cookie})).status_code == 200
    key = await small.client()
    for given in ("Bearer cad_nobody_x", "bearer  cad_nobody_x ", "BEARER cad_nobody_x"):
        await key.get("/api/v1/key", headers={"authorization": given})
    lines = [who for who, _ in taken]
    assert len(set(lines[:3])) == 1
    assert len(set(lines[3:])) == 1
    assert plain.partition("=")[2] not in lines, "what is kept in memory is no secret"


async def test_a_hasty_workspace_is_served_one_at_a_time_by_however_many_keys(
    small: Place,
) -> None:
    small.app.state.haste_bucket = TokenBucket(
        small.runtime.clock, shared=Pace(per_second=0.001, at_once=1)
    )
    viewer, editor = await small.client("viewer"), await small.client("editor")
    stranger = await small.client("ben")
    home = "/api/v1/workspaces/home-of-ada"
    assert (await viewer.get(home)).status_code == 200
    fair_queue: FairQueue = small.app.state.fair_queue
    async with asyncio.timeout(20):
        async with fair_queue.take_single("workspace:home-of-ada"):
            requested = [asyncio.ensure_future(each.get(home)) for each in (viewer, editor)]
            assert (await stranger.get(home)).status_code == 404, "a stranger stands in no line"
            other = await stranger.get("/api/v1/workspaces/home-of-ben")
            assert other.status_code == 200
            while len(fair_queue._lines) < 3:  # the workspace's and both callers'
                await asyncio.sleep(0.001)
            await asyncio.sleep(0.05)
            assert not any(each.done() for each in requested)
        assert [(await each).status_code for each in requested] == [200, 200]


def watch_turns(place: Place) -> list[tuple[str, bool]]:
    """Return a list that fills with who takes a turn, and whether in haste."""
    taken: list[tuple[str, bool]] = []

    class Watched(FairQueue):
        @asynccontextmanager
        async def take(self, who: str, *, hasty: bool = False) -> AsyncGenerator[None]:
            taken.append((who, hasty))
            async with super().take(who, hasty=hasty):
                yield

    place.app.state.fair_queue = Watched()
    return taken
