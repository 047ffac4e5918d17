"""Changes a post, by its revision, and carries the change to every delivery that has not left.

A stale revision changes nothing and brings the post as it stands. Content that changed voids the
approval, unless this save is one itself; deliveries of unapproved content are drafts again. Where a call
was permitted before the save, the old words go out: the answer says so, and the save is kept as a revision.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from cadenza.core.channels import Channel
from cadenza.core.rollup import DeliveryState as State
from cadenza.db.audit import record
from cadenza.deliveries.approve import Released, release
from cadenza.deliveries.hold import hold_post
from cadenza.deliveries.model import Delivery
from cadenza.deliveries.render import Files
from cadenza.deliveries.rewrite import Frozen, Rewritten, rewrite
from cadenza.media.model import NoSuchMedia
from cadenza.media.use import use
from cadenza.posts.approval_rights import find_blockers, may_approve
from cadenza.posts.compose import compose_post
from cadenza.posts.find import Hold, find
from cadenza.posts.find_duplicates import fingerprint_of
from cadenza.posts.model import (
    NEEDS_COPY,
    NEEDS_MEDIA,
    PLACEHOLDER,
    Approval,
    Content,
    NoSuchPost,
    Post,
    PostMedia,
    Source,
    Variant,
    hash_of,
)
from cadenza.posts.preflight import refuse_unfit
from cadenza.posts.store import save_revision, searchable, set_labels
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is to be different; what is not named stays."""

    text: str | UnsetType = UNSET
    variants: Mapping[Channel, Variant] | UnsetType = UNSET
    media: tuple[PostMedia, ...] | UnsetType = UNSET
    hashtags: tuple[str, ...] | UnsetType = UNSET
    parts: tuple[str, ...] | UnsetType = UNSET
    first_comment: str | UnsetType | None = UNSET
    link: str | UnsetType | None = UNSET
    title: str | UnsetType = UNSET
    category_id: str | UnsetType | None = UNSET
    labels: tuple[str, ...] | UnsetType = UNSET
    blockers: tuple[str, ...] | UnsetType = UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """It is saved. `too_late` names where the words of before are out or on their way."""

    revision: int
    approved: bool
    why_not_approved: str | None = None
    voided: bool = False  # an approval that it had is gone
    rewritten: tuple[str, ...] = ()
    scheduled: tuple[str, ...] = ()  # what this save put in the pipeline, being an approval
    too_late: tuple[Frozen, ...] = ()

    @property
    def message(self) -> str | None:
        """Say what a person should know about this save."""
        if self.too_late:
            return _too_late(self.too_late)
        return "it has to be approved again: what was approved has changed" if self.voided else None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Somebody saved it meanwhile: nothing was changed; this is how it stands."""

    current: Post
    message: str = (
        "somebody saved this post meanwhile: look at their version, then save yours again"
    )


Answer = Edited | Conflict | NoSuchPost | NoSuchMedia


def edit(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    post_id: str,
    revision: int,
    change: Change,
    by: str,
    approve: bool | None = None,
    files: Files | None = None,
) -> Answer:
    """Save a change made to `revision`. `approve` is as in `create`."""
    before = find(tx, workspace_id, post_id, hold=Hold.CHANGE)
    if isinstance(before, NoSuchPost):
        return before
    if before.revision != revision:
        return Conflict(before)
    after = _changed(before, change)
    if after.content.media_ids != before.content.media_ids:
        used = use(tx, workspace_id, post_id, after.content.media_ids)
        if isinstance(used, NoSuchMedia):
            return used
    after, why_not = _judge(tx, now, before, after, by, requested=approve, files=files)
    rewritten = recompose(tx, now, after)
    released = Released()
    if after.approved:
        released = release(tx, now, workspace_id=workspace_id, post_id=post_id)
    _save(tx, now, after, by, note=_too_late(rewritten.frozen) if rewritten.frozen else None)
    voided = before.approved and not after.approved
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="post.edit",
        subject_id=post_id,
        before={"revision": before.revision, "approved": before.approved},
        after={
            "revision": after.revision,
            "approved": after.approved,
            "changed": [each.name for each in fields(change) if getattr(change, each.name) is not UNSET],
            "rewritten": len(rewritten.changed),
            "too_late": [f"{each.account_id}/{each.channel}" for each in rewritten.frozen],
        },
    )  # fmt: skip
    return Edited(
        revision=after.revision,
        approved=after.approved,
        why_not_approved=why_not,
        voided=voided,
        rewritten=rewritten.changed,
        scheduled=released.scheduled,
        too_late=rewritten.frozen,
    )


def recompose(tx: Tx, now: datetime, post: Post) -> Rewritten:
    """Compose a post again for all its deliveries and write what is different."""
    held = _open(tx, post)
    places = [(row.account_id, row.channel) for row in held]
    return rewrite(tx, now, held, compose_post(tx, post, places)) if held else Rewritten((), ())


def _open(tx: Tx, post: Post) -> list[Delivery]:
    return hold_post(tx, post.workspace_id, post.id)


def _changed(before: Post, change: Change) -> Post:
    said: dict[str, Any] = {
        each.name: value
        for each in fields(change)
        if (value := getattr(change, each.name)) is not UNSET
    }
    named = {each.name for each in fields(Content)}
    content = replace(before.content, **{k: v for k, v in said.items() if k in named})
    after = replace(
        before,
        content=content,
        revision=before.revision + 1,
        **{k: v for k, v in said.items() if k not in named},
    )
    if "blockers" not in said:
        after = replace(after, blockers=_still_needed(after))
    content_hash = hash_of(content, title=after.title, category_id=after.category_id)
    return replace(after, content_hash=content_hash)


def _still_needed(post: Post) -> tuple[str, ...]:
    """Drop what this save has done: media are there, the placeholder is written over."""
    done = {NEEDS_MEDIA} if post.content.media_ids else set[str]()
    if PLACEHOLDER not in post.content.text:
        done.add(NEEDS_COPY)
    return tuple(each for each in post.blockers if each not in done)


def _judge(
    tx: Tx,
    now: datetime,
    before: Post,
    after: Post,
    by: str,
    *,
    requested: bool | None,
    files: Files | None,
) -> tuple[Post, str | None]:
    """Say whether it is approved after this save; what was approved and is the same stays so.

    A save puts nothing on its way that a channel would refuse: where drafts wait for an approval it is none.
    """
    if after.approved:
        return after, None
    if after.source is Source.RULE and requested is None:
        why_not = "a rule made it: it waits for a person to approve it"
    elif blockers := find_blockers(after.content, after.blockers):
        why_not = f"it {' and '.join(blockers)}"
    else:
        why_not = may_approve(tx, after.workspace_id, by, requested=requested)
    if why_not is None and not before.approved:
        waiting = [row for row in _open(tx, after) if row.state == State.DRAFT]
        places = [(row.account_id, row.channel) for row in waiting]
        unfit = refuse_unfit(tx, after.workspace_id, compose_post(tx, after, places), files)
        why_not = None if unfit is None else unfit.message
    if why_not is None:
        return replace(after, approval=Approval(by, now, after.content_hash)), None
    return replace(after, approval=None), why_not


def _save(tx: Tx, now: datetime, post: Post, by: str, *, note: str | None) -> None:
    tx.run(
        """
        UPDATE post SET title = :title, category_id = :category_id, content = :content,
            content_hash = :hash, search = :search, words = :words, blockers = :blockers, revision = :revision,
            approved_by = :approved_by, approved_at = :approved_at, approved_hash = :approved_hash,
            updated_at = :now
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        title=post.title,
        category_id=post.category_id,
        content=post.content.as_json(),
        hash=post.content_hash,
        search=searchable(post.title, post.content),
        words=fingerprint_of(post.content.text),
        blockers=msgspec.json.encode(post.blockers).decode(),
        revision=post.revision,
        approved_by=post.approval.by if post.approval else None,
        approved_at=post.approval.at if post.approval else None,
        approved_hash=post.approval.hash if post.approval else None,
        now=now,
        workspace_id=post.workspace_id,
        id=post.id,
    )
    set_labels(tx, post.workspace_id, post.id, post.labels)
    save_revision(tx, now, post, by=by, note=note)


def _too_late(frozen: tuple[Frozen, ...]) -> str:
    out = sorted({each.channel for each in frozen if each.state is State.SENT})
    going = sorted({each.channel for each in frozen if each.state is not State.SENT})
    said = [
        f"{', '.join(channels)} {words}"
        for channels, words in ((out, "has the version before"), (going, "is getting it just now"))
        if channels
    ]
    return f"too late for some channels: {'; '.join(said)}. Your change is kept as a new revision"
