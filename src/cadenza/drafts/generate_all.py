"""Generates for whole workspaces: one on demand, or all whose night has come.

`generate_all` is for the engine's scheduler and for an outside cron alike: it may overlap with itself,
ends when its time is over, and the next call goes on where it stopped. `generate_workspace` may be called
at any time by anybody. Each rule's batch is one short transaction; copy is written after them. Limit:
copy that the time did not suffice for is written the next night, or on demand.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

from cadenza.core.clock import Clock
from cadenza.core.timebox import TimeBox
from cadenza.drafts.claim_nightly_runs import (
    LEASE,
    NightlyRun,
    claim_nightly_runs,
    finish_nightly_run,
    release,
    save_progress,
)
from cadenza.drafts.generate import Generated, generate
from cadenza.drafts.model import drafts_locks
from cadenza.drafts.write_copy import CopyReport, Copywriter, TemplateCopywriter, write_copy
from cadenza.sql.transactions import Operations

log = logging.getLogger("cadenza.drafts")

COPY_SHARE = 5  # one workspace's copywriter may take this part of the time before others had theirs
CHUNK = 10  # workspaces claimed at once
SECONDS = 50.0  # what an outside cron usually waits for
EVERY = "*/15 * * * *"  # so that 02:00 is met within minutes in each zone, quarter-hour ones too

Step = Callable[[str, int], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class WorkspaceReport:
    """What was made for one workspace; `complete`: every rule was filled. Copy has its own word for it."""

    posts: int = 0
    without_media: int = 0
    copy: CopyReport = field(default_factory=CopyReport)
    complete: bool = True


@dataclass(frozen=True, slots=True)
class AllReport:
    """What one pass did. `complete`: nothing that was due is left."""

    workspaces: int = 0
    posts: int = 0
    failed: int = 0
    complete: bool = True


async def generate_all(
    operations: Operations,
    *,
    clock: Clock,
    copywriter: Copywriter | None = None,
    seconds: float = SECONDS,
    lease: timedelta = LEASE,
) -> AllReport:
    """Generate for every workspace whose night has come and whom nobody generates for just now."""
    box = TimeBox(clock, seconds)
    done = posts = failed = 0
    after = ""
    unwritten: list[str] = []
    while not box.over:
        nights = await _claim(operations, after, lease)
        for place, night in enumerate(nights):
            if box.over:
                await _release(operations, nights[place:])
                return AllReport(done, posts, failed, complete=False)
            try:
                share = TimeBox(clock, max(min(box.left, seconds / COPY_SHARE), 0.001))
                report = await _one_night(operations, night, copywriter, (box, share), lease)
            except Exception:  # one workspace's trouble must not keep the others waiting
                log.exception("generation failed", extra={"workspace": night.workspace_id})
                failed += 1  # its lease stays: it is tried again when that is over
                continue
            posts += report.posts
            done += report.complete
            if not report.copy.complete:
                unwritten.append(night.workspace_id)
        if len(nights) < CHUNK:
            for workspace_id in unwritten:  # the time that is left is theirs
                await _copy(operations, workspace_id, copywriter, box)
            return AllReport(done, posts, failed, complete=not box.over)
        after = nights[-1].workspace_id
    return AllReport(done, posts, failed, complete=False)


async def generate_workspace(
    operations: Operations,
    *,
    workspace_id: str,
    box: TimeBox,
    copywriter: Copywriter | None = None,
    copy_box: TimeBox | None = None,
    after_rule: str = "",
    step: Step | None = None,
) -> WorkspaceReport:
    """Fill the next 30 days of all active rules, then let copy be written.

    `step(rule_id, posts)` is told of each rule that is done; when it says False, another goes on instead.
    """
    posts = without_media = 0
    for rule_id in await _rules(operations, workspace_id, after_rule):
        while True:
            if box.over:
                return WorkspaceReport(posts, without_media, complete=False)
            made = await _batch(operations, workspace_id, rule_id)
            if not isinstance(made, Generated):
                break
            posts += len(made.posts)
            without_media += made.without_media
            if not made.left:
                break
        if step is not None and not await step(rule_id, posts):
            return WorkspaceReport(posts, without_media, complete=False)
    copy = await _copy(operations, workspace_id, copywriter, copy_box or box)
    return WorkspaceReport(posts, without_media, copy)


async def _copy(
    operations: Operations, workspace_id: str, copywriter: Copywriter | None, box: TimeBox
) -> CopyReport:
    writer = copywriter or TemplateCopywriter()
    return await write_copy(operations, writer, workspace_id=workspace_id, box=box)


async def _one_night(
    operations: Operations,
    night: NightlyRun,
    copywriter: Copywriter | None,
    boxes: tuple[TimeBox, TimeBox],
    lease: timedelta,
) -> WorkspaceReport:
    """Generate and finish; copy that is not written by then does not hold the night open."""

    async def step(rule_id: str, posts: int) -> bool:
        return await operations.run(
            lambda tx, now: save_progress(
                tx, now, night, after_rule=rule_id, made=night.made + posts, lease=lease
            )
        )

    report = await generate_workspace(
        operations,
        workspace_id=night.workspace_id,
        box=boxes[0],
        copywriter=copywriter,
        copy_box=boxes[1],
        after_rule=night.after_rule,
        step=step,
    )
    if report.complete:
        await operations.run(lambda tx, now: finish_nightly_run(tx, now, night))
    else:
        await _release(operations, [night])
    return report


async def _claim(operations: Operations, after: str, lease: timedelta) -> list[NightlyRun]:
    return await operations.run(
        lambda tx, now: claim_nightly_runs(tx, now, limit=CHUNK, after=after, lease=lease)
    )


async def _release(operations: Operations, nights: list[NightlyRun]) -> None:
    await operations.run(lambda tx, now: release(tx, now, nights))


async def _rules(operations: Operations, workspace_id: str, after: str) -> list[str]:
    rows = await operations.read(
        lambda tx, _: tx.all(
            """
            SELECT id FROM rule WHERE workspace_id = :workspace_id AND state = 'active' AND id > :after
            ORDER BY id
            """,
            workspace_id=workspace_id,
            after=after,
        )
    )
    return [row["id"] for row in rows]


async def _batch(operations: Operations, workspace_id: str, rule_id: str) -> object:
    return await operations.run(
        lambda tx, now: generate(tx, now, workspace_id=workspace_id, rule_id=rule_id),
        locks=drafts_locks(workspace_id),
    )
