"""The application looks after its posts by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta

from cadenza.bootstrap import Runtime
from cadenza.bootstrap.watch_posts import watch_posts
from cadenza.core.channels import Channel
from cadenza.media.upload import Uploaded, upload
from cadenza.posts.create import Created, create
from cadenza.posts.find import find
from cadenza.posts.model import NewPost, Post, PostMedia, Source
from cadenza.posts.put_deliveries import put_deliveries
from cadenza.sql.tx import Tx
from tests.bootstrap.conftest import HOME, Town
from tests.media.made import picture


async def told(runtime: Runtime) -> list[tuple[str, str]]:
    rows = await runtime.operations.read(
        lambda tx, _: tx.all("SELECT kind, subject_id FROM outbox ORDER BY kind")
    )
    return [(row["kind"], row["subject_id"]) for row in rows]


async def plan(
    runtime: Runtime,
    text: str,
    due: timedelta,
    *,
    approve: bool,
    media: tuple[PostMedia, ...] = (),
) -> str:
    def make(tx: Tx, now: datetime) -> str:
        source = Source.MANUAL if approve else Source.RULE
        new = NewPost(workspace_id=HOME, text=text, source=source, media=media)
        made = create(tx, now, new, by="key:robot", approve=approve)
        assert isinstance(made, Created)
        post = find(tx, HOME, made.id)
        assert isinstance(post, Post)
        (id_,) = put_deliveries(
            tx, now, post, [("ada", Channel.MASTODON)], due_at=now + due
        ).values()
        return id_

    return await runtime.operations.run(make)


async def test_a_file_that_is_gone_from_the_storage_is_told_before_the_time(
    runtime: Runtime,
) -> None:
    """Case 29: the storage itself is asked, half an hour before."""

    async def cat() -> AsyncIterator[bytes]:
        yield picture()

    kept = await upload(
        runtime.library.desk, cat(), workspace_id=HOME, name="cat.png", by="key:robot"
    )
    assert isinstance(kept, Uploaded)
    media = (PostMedia(kept.media.id),)
    id_ = await plan(runtime, "look", timedelta(minutes=20), approve=True, media=media)
    await watch_posts(runtime, {})
    assert await told(runtime) == []
    await runtime.library.storage.delete(kept.media.file)
    await watch_posts(runtime, {})
    assert await told(runtime) == [("delivery.at_risk", id_)]


async def test_one_pass_warns_sweeps_and_checks(runtime: Runtime, town: Town) -> None:
    soon = await plan(runtime, "unseen", timedelta(hours=1), approve=False)
    late = await plan(runtime, "unseen too", timedelta(seconds=-1), approve=False)
    long = await plan(runtime, "x" * 600, timedelta(minutes=10), approve=True)
    await plan(runtime, "fine", timedelta(minutes=10), approve=True)
    for _ in range(2):
        await watch_posts(runtime, {})
    assert await told(runtime) == [
        ("delivery.at_risk", long),
        ("delivery.missed", late),
        ("delivery.unapproved", soon),
    ]
    assert (await town.row(runtime, late))["state"] == "missed"
