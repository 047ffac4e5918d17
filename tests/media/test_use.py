"""Which posts show a file."""

from cadenza.media.model import NoSuchMedia
from cadenza.media.use import keep, use
from tests.media.conftest import AWAY, HOME, Library


async def test_a_post_says_what_it_shows_and_lets_go_of_the_rest(library: Library) -> None:
    one, two = await library.add("1" * 64), await library.add("2" * 64)

    await library.use("p1", one)
    shown = await library.use("p1", two)

    assert [media.id for media in shown] == [two.id]
    assert [row["media_id"] for row in await library.rows("media_use")] == [two.id]


async def test_a_post_without_media_lets_go_of_all(library: Library) -> None:
    one = await library.add()
    await library.use("p1", one, one)
    await library.use("p2", one)

    await library.use("p1")

    assert [row["post_id"] for row in await library.rows("media_use")] == ["p2"]


async def test_media_of_another_workspace_is_refused_and_nothing_changes(library: Library) -> None:
    mine = await library.add("1" * 64)
    theirs = await library.add("2" * 64, workspace_id=AWAY)
    await library.use("p1", mine)

    answer = await library.operations.run(
        lambda tx, _: use(tx, HOME, "p1", [mine.id, theirs.id, "nope"])
    )

    assert isinstance(answer, NoSuchMedia)
    assert answer.ids == (theirs.id, "nope")
    assert [row["media_id"] for row in await library.rows("media_use")] == [mine.id]


async def test_a_pool_keeps_what_it_names(library: Library) -> None:
    one, two = await library.add("1" * 64), await library.add("2" * 64)

    await library.operations.run(lambda tx, _: keep(tx, HOME, "asset:1", [one.id, two.id]))
    await library.operations.run(lambda tx, _: keep(tx, HOME, "asset:1", [two.id]))

    assert [row["media_id"] for row in await library.rows("media_keep")] == [two.id]
