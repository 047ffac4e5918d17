"""Changing what people wrote about a file."""

from cadenza.media.describe import describe
from cadenza.media.model import Media, NoSuchMedia
from tests.media.conftest import AWAY, BY, HOME, Library


async def test_a_description_and_a_name_are_changed_and_written_down(library: Library) -> None:
    media = await library.add()

    after = await library.operations.run(
        lambda tx, now: describe(
            tx, now, workspace_id=HOME, id=media.id, by=BY, alt=" a sleeping cat ", name="../x.exe"
        )
    )

    assert isinstance(after, Media)
    assert (after.alt, after.name) == ("a sleeping cat", "x.exe.png")
    audits = await library.rows("audit")
    assert [row["action"] for row in audits] == ["media.add", "media.describe"]
    assert "sleeping" not in audits[1]["after"]


async def test_nothing_new_is_no_change(library: Library) -> None:
    media = await library.add()

    same = await library.operations.run(
        lambda tx, now: describe(tx, now, workspace_id=HOME, id=media.id, by=BY, alt="a cat")
    )

    assert same == media
    assert len(await library.rows("audit")) == 1


async def test_another_workspace_cannot_describe_it(library: Library) -> None:
    media = await library.add()

    answer = await library.operations.run(
        lambda tx, now: describe(tx, now, workspace_id=AWAY, id=media.id, by=BY, alt="mine")
    )

    assert isinstance(answer, NoSuchMedia)
