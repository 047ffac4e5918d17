"""One caller who floods is slowed down, and the others are served."""

import asyncio

from cadenza.api.slow_down import LONGEST, REMEMBERED, Breath, Pace, Turns
from cadenza.core.clock import SystemClock
from tests.api.conftest import Place


async def test_a_flood_of_one_leaves_the_others_alone(small: Place) -> None:
    small.app.state.breath = Breath(small.house.clock, Pace(per_second=0.01, at_once=5))
    flood = await small.client("viewer")
    said = [(await flood.get("/api/v1/me")).status_code for _ in range(8)]
    assert said == [200] * 5 + [429] * 3
    refused = await flood.get("/api/v1/me")
    assert int(refused.headers["retry-after"]) >= 1
    other = await small.client("editor")
    assert (await other.get("/api/v1/me")).status_code == 200


async def test_a_flood_of_one_workspace_leaves_the_others_alone(small: Place) -> None:
    slow = Pace(per_second=0.01, at_once=5)
    small.app.state.breath = Breath(small.house.clock, shared=slow)
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
    small.app.state.breath = Breath(small.house.clock, shared=Pace(per_second=0.01, at_once=1))
    stranger = await small.client("ben")
    for _ in range(3):
        assert (await stranger.get("/api/v1/workspaces/home-of-ada")).status_code == 404
    viewer = await small.client("viewer")
    assert (await viewer.get("/api/v1/workspaces/home-of-ada")).status_code == 200


async def test_keys_that_open_nothing_are_slowed_down_by_their_address(small: Place) -> None:
    small.app.state.breath = Breath(small.house.clock, Pace(per_second=0.01, at_once=5))
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
    breath = Breath(SystemClock(), Pace(per_second=0.001, at_once=1))
    assert breath.take("ada") == 0
    assert breath.take("ada") > 0
    for number in range(REMEMBERED):
        breath.take(f"stranger {number}")
    assert breath.take("ada") == 0


async def test_a_caller_waits_in_their_own_line_and_others_pass_by() -> None:
    turns = Turns(at_once=2)
    served: list[str] = []
    go_on = asyncio.Event()

    async def ask(who: str) -> None:
        async with turns.take(who):
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
    assert turns == Turns(at_once=2), "nobody is remembered"


async def test_who_asks_a_little_too_fast_is_served_at_the_pace_and_not_refused(
    small: Place,
) -> None:
    small.app.state.breath = Breath(small.house.clock, Pace(per_second=20, at_once=2))
    viewer = await small.client("viewer")
    began = small.house.clock.monotonic()
    answers = await asyncio.gather(*(viewer.get("/api/v1/me") for _ in range(12)))
    assert [answer.status_code for answer in answers] == [200] * 12
    assert small.house.clock.monotonic() - began >= 0.45  # ten of them waited their twentieth


async def test_a_line_that_is_too_long_is_not_joined(small: Place) -> None:
    viewer = await small.client("viewer")
    small.app.state.turns = turns = Turns(at_once=1)
    token = viewer.headers.get("cookie") or f"cadenza={viewer.cookies['cadenza']}"

    async def stand() -> None:
        async with turns.take(token):
            await asyncio.Event().wait()

    crowd = [asyncio.ensure_future(stand()) for _ in range(LONGEST)]
    await asyncio.sleep(0)
    refused = await viewer.get("/api/v1/me")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    for each in crowd:
        each.cancel()
    await asyncio.gather(*crowd, return_exceptions=True)
    assert (await viewer.get("/api/v1/me")).status_code == 200
