"""What a channel's new limits no longer take is flagged where it is planned, and cleared when it fits again."""

from datetime import timedelta

from cadenza.deliveries.recheck_fit import recheck_fit
from cadenza.posts.attention import AttentionReason, needs_attention
from tests.posts.conftest import BLUESKY, HOME, MASTODON, Desk

SHORT = '{"limits": {"characters": 20}}'


async def test_a_limit_that_shrinks_flags_what_is_planned_and_one_that_grows_clears_it(
    desk: Desk,
) -> None:
    long = await desk.write("far too long for twenty characters")
    (toot, _sky) = await desk.plan(long, [MASTODON, BLUESKY], due=timedelta(days=3))
    short = await desk.write("short")
    await desk.plan(short, [MASTODON], due=timedelta(days=2))
    assert (await desk.run(lambda tx, _: recheck_fit(tx))).changed == ()
    await desk.sql("UPDATE account SET settings = :s WHERE id = 'toots'", s=SHORT)
    flagged: list[str] = []
    after = None
    while True:  # one at a time, so that the walk is seen to go on
        done = await desk.run(lambda tx, _, after=after: recheck_fit(tx, after=after, limit=1))
        flagged += done.changed
        after = done.next
        if after is None:
            break
    assert flagged == [toot]
    assert "20" in (await desk.delivery(toot))["unfit"]
    things = await desk.operations.read(lambda tx, now: needs_attention(tx, now, workspace_id=HOME))
    assert [(t.reason, t.subject_id) for t in things] == [(AttentionReason.DOES_NOT_FIT, toot)]
    await desk.sql("UPDATE account SET settings = '{}' WHERE id = 'toots'")
    other = await desk.run(lambda tx, _: recheck_fit(tx, account=(HOME, "skies")))
    assert other.changed == ()
    own = await desk.run(lambda tx, _: recheck_fit(tx, account=(HOME, "toots")))
    assert own.changed == (toot,)
    assert (await desk.delivery(toot))["unfit"] is None
