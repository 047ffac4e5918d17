"""A post as each account's channel gets it: the only place where content becomes a delivery's content.

The channel's variant overrides, hashtags of brand, category and post are merged and set below the text,
media become what `deliveries/render.py` reads. Nothing is cut: what a network would refuse is said by
`preflight.py`. Limit: hashtags are left out where a `#` means nothing (mail, messages, chats, webhooks).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from cadenza.core.channels import Channel
from cadenza.deliveries.model import ComposedPost
from cadenza.media.model import Media, media_of
from cadenza.posts import hashtags
from cadenza.posts.find import Hold, find
from cadenza.posts.model import NoSuchPost, Post, PostMedia, Variant
from cadenza.posts.targets import Targets, resolve_targets
from cadenza.sql.tx import Row, Tx

WITHOUT_HASHTAGS = frozenset(
    {
        Channel.EMAIL,
        Channel.LINKEDIN_MESSAGE,
        Channel.LINKEDIN_INVITATION,
        Channel.LINKEDIN_INMAIL,
        Channel.SLACK,
        Channel.DISCORD,
        Channel.WEBHOOK,
    }
)
_INHERIT = Variant()


def compose(
    tx: Tx, workspace_id: str, post_id: str, targets: Targets, *, hold: bool = True
) -> list[ComposedPost]:
    """Return the post's pieces in the order of its targets; an account alone means its usual channels.

    `hold` keeps edits away until the pieces are written in this transaction: without it an edit could void
    an approval that the new delivery still carries. A preview in a reading transaction does not hold.
    """
    post = find(tx, workspace_id, post_id, hold=Hold.SHARE if hold else Hold.NO)
    if isinstance(post, NoSuchPost):
        return []
    return compose_post(tx, post, resolve_targets(tx, workspace_id, targets))


def compose_post(tx: Tx, post: Post, targets: Sequence[tuple[str, Channel]]) -> list[ComposedPost]:
    """Compose a post at hand, saved or not."""
    common = _common_hashtags(tx, post)
    media = _media(tx, post)
    contents = {
        channel: _content(post, channel, common, media) for channel in {c for _, c in targets}
    }
    return [
        ComposedPost(
            post_id=post.id,
            account_id=account_id,
            channel=channel,
            content=contents[channel],
            approved=post.approved,
        )
        for account_id, channel in dict.fromkeys(targets)
    ]


def _content(
    post: Post, channel: Channel, common: Sequence[str], media: Mapping[str, Media]
) -> str:
    """Return the JSON that the pipeline renders; fields that are empty are left out."""
    said, variant = post.content, post.content.variants.get(channel, _INHERIT)
    text = said.text if variant.text is None else variant.text
    shown = said.media if variant.media is None else variant.media
    comment = said.first_comment if variant.first_comment is None else variant.first_comment
    parts = said.parts if variant.parts is None else variant.parts
    if channel not in WITHOUT_HASHTAGS:
        tags = common if variant.hashtags is None else variant.hashtags
        said_already = "\n".join((text, *parts))
        text = hashtags.append(text, hashtags.merge(tags, text=said_already))
    content: dict[str, Any] = {
        "text": text,
        "media": _entries(shown, media),
        "parts": list(parts),
        "first_comment": comment,
        "subject": post.title,
        "link": said.link if variant.link is None else variant.link,
        "options": dict(variant.options),
    }
    kept = {name: value for name, value in content.items() if value or name == "text"}
    return msgspec.json.encode(kept, order="sorted").decode()


def _entries(shown: Sequence[PostMedia], media: Mapping[str, Media]) -> list[dict[str, Any]]:
    """Return the files; one that is gone stays as a gap, so that nothing goes out without its picture."""
    return [
        media[item.media_id].as_content(item.alt)
        if item.media_id in media
        else {"missing": item.media_id}
        for item in shown
    ]


def _media(tx: Tx, post: Post) -> dict[str, Media]:
    ids = post.content.media_ids
    if not ids:
        return {}
    rows = tx.all(
        """
        SELECT media.* FROM TABLE(:ids) AS asked (id text)
        JOIN media ON media.workspace_id = :workspace_id AND media.id = asked.id
        WHERE stored_at IS NOT NULL AND deleted_at IS NULL
        """,
        workspace_id=post.workspace_id,
        ids=[(id_,) for id_ in ids],
    )
    return {row["id"]: media_of(row) for row in rows}


def _common_hashtags(tx: Tx, post: Post) -> tuple[str, ...]:
    """Merge workspace, brand, category and post: read when composing, so that a change of theirs counts."""
    home = tx.value("SELECT hashtags FROM workspace WHERE id = :id", id=post.workspace_id)
    group: Row | None = None
    if post.category_id is not None:
        group = tx.one(
            """
            SELECT category.hashtags AS own, brand.hashtags AS brand
            FROM category LEFT JOIN category AS brand
                ON brand.workspace_id = category.workspace_id AND brand.id = category.parent_id
            WHERE category.workspace_id = :workspace_id AND category.id = :id
            """,
            workspace_id=post.workspace_id,
            id=post.category_id,
        )
    grouped = (group["brand"], group["own"]) if group is not None else ()
    return hashtags.merge(*map(hashtags.read, (home, *grouped)), post.content.hashtags)
