"""Makes a post. With the workspace's `approval: author`, the save of an editor or above approves it.

A rule's post always waits for a person, and so does one with a blocker or without content. The answer says whether it is
approved and, if not, why: nothing about it is silent. Where and when it goes is for others to say.
"""

from dataclasses import dataclass
from datetime import datetime

import msgspec

from cadenza.db.audit import record
from cadenza.media.model import NoSuchMedia
from cadenza.media.use import use
from cadenza.posts.approval_rights import find_blockers, may_approve
from cadenza.posts.find import find
from cadenza.posts.find_duplicates import fingerprint_of
from cadenza.posts.model import NewPost, Post, Source, hash_of
from cadenza.posts.store import save_revision, searchable, set_labels
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class Created:
    """The post is there."""

    id: str
    revision: int
    approved: bool
    why_not_approved: str | None = None


def create(
    tx: Tx, now: datetime, new: NewPost, *, by: str, approve: bool | None = None
) -> Created | NoSuchMedia:
    """Add a post. `approve` None leaves it to the workspace; True approves if `by` may; False never does."""
    content = new.content
    content_hash = hash_of(content, title=new.title, category_id=new.category_id)
    why_not = _why_not_approved(tx, new, by, requested=approve)
    approved = why_not is None
    id_ = tx.new_id()
    if content.media_ids:
        used = use(tx, new.workspace_id, id_, content.media_ids)
        if isinstance(used, NoSuchMedia):
            return used
    tx.run(
        """
        INSERT INTO post (
            workspace_id, id, title, source, author_id, category_id, content, content_hash, search, words,
            blockers, approved_by, approved_at, approved_hash, created_at, updated_at
        ) VALUES (
            :workspace_id, :id, :title, :source, :author_id, :category_id, :content, :hash, :search, :words,
            :blockers, :approved_by, :approved_at, :approved_hash, :now, :now
        )
        """,
        workspace_id=new.workspace_id,
        id=id_,
        title=new.title,
        source=new.source.value,
        author_id=new.author_id,
        category_id=new.category_id,
        content=content.as_json(),
        hash=content_hash,
        search=searchable(new.title, content),
        words=fingerprint_of(content.text),
        blockers=msgspec.json.encode(new.blockers).decode(),
        approved_by=by if approved else None,
        approved_at=now if approved else None,
        approved_hash=content_hash if approved else None,
        now=now,
    )
    set_labels(tx, new.workspace_id, id_, new.labels)
    made = find(tx, new.workspace_id, id_)
    assert isinstance(made, Post)
    save_revision(tx, now, made, by=by)
    record(
        tx,
        now,
        workspace_id=new.workspace_id,
        by=by,
        action="post.create",
        subject_id=id_,
        after={"source": new.source.value, "approved": approved},
    )
    return Created(id_, 1, approved, why_not)


def _why_not_approved(tx: Tx, new: NewPost, by: str, *, requested: bool | None) -> str | None:
    if new.source is Source.RULE:
        return "a rule made it: it waits for a person"
    if blockers := find_blockers(new.content, new.blockers):
        return f"it {' and '.join(blockers)}"
    return may_approve(tx, new.workspace_id, by, requested=requested)
