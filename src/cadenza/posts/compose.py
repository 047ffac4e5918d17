"""A post as each account's channel gets it: the only place where content becomes a delivery's content.

The channel's variant overrides, hashtags of brand, category and post are merged and set below the text,
media become what `deliveries/render.py` reads. Nothing is cut: what a network would refuse is said by
`preflight.py`. Limit: hashtags are left out where a `#` means nothing (mail, messages, chats, webhooks).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from cadenza.core.channels import Channel, normalise
from cadenza.deliveries.model import Piece
from cadenza.media.model import Media, media_of
from cadenza.posts import hashtags
from cadenza.posts.find import find
from cadenza.posts.model import NoSuchPost, Post, PostMedia, Variant
from cadenza.providers.registry import all_providers
from cadenza.sql.tx import Row, Tx

Targets: TypeAlias = Sequence[tuple[str, Channel]] | Sequence[str]

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
ONLY_WHEN_ASKED = frozenset({Channel.INSTAGRAM_STORY})
_INHERIT = Variant()


class UnknownAccountError(LookupError):
    """The workspace has no account of that id: whoever asks checks first."""


def compose(tx: Tx, workspace_id: str, post_id: str, targets: Targets) -> list[Piece]:
    """Return the post's pieces in the order of its targets; an account alone means its usual channels."""
    post = find(tx, workspace_id, post_id)
    if isinstance(post, NoSuchPost):
        return []
    return compose_post(tx, post, resolve_targets(tx, workspace_id, targets))


def compose_post(tx: Tx, post: Post, targets: Sequence[tuple[str, Channel]]) -> list[Piece]:
    """Compose a post at hand, saved or not."""
    common = _common_hashtags(tx, post)
    media = _media(tx, post)
    contents = {
        channel: _content(post, channel, common, media) for channel in {c for _, c in targets}
    }
    return [
        Piece(
            post_id=post.id,
            account_id=account_id,
            channel=channel,
            content=contents[channel],
            approved=post.approved,
        )
        for account_id, channel in dict.fromkeys(targets)
    ]


def resolve_targets(tx: Tx, workspace_id: str, targets: Targets) -> list[tuple[str, Channel]]:
    """Turn accounts into pairs of account and channel; pairs stay as they are."""
    alone = [each for each in targets if isinstance(each, str)]
    accounts = _accounts(tx, workspace_id, alone)
    pairs: list[tuple[str, Channel]] = []
    for each in targets:
        if isinstance(each, str):
            pairs.extend((each, channel) for channel in default_channels(accounts[each]))
        else:
            pairs.append(each)
    return list(dict.fromkeys(pairs))


def default_channels(account: Row) -> tuple[Channel, ...]:
    """Return where an account publishes when nobody says where: as set for it, else as its network does."""
    settings: dict[str, Any] = msgspec.json.decode(account["settings"])
    if settings.get("channels"):
        return tuple(normalise(name) for name in settings["channels"])
    adapter = all_providers().get(account["provider"])
    if adapter is None:
        return ()
    usual = [
        channel
        for channel in adapter.channels
        if channel not in ONLY_WHEN_ASKED and not adapter.capabilities(channel).needs_recipient
    ]
    if Channel.LINKEDIN_PROFILE in usual:  # one identity is a person or an organisation
        is_person = "organization" not in account["remote_id"]
        return (Channel.LINKEDIN_PROFILE if is_person else Channel.LINKEDIN_ORGANIZATION,)
    return tuple(usual)


def _accounts(tx: Tx, workspace_id: str, ids: Iterable[str]) -> dict[str, Row]:
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    rows = tx.all(
        """
        SELECT account.* FROM TABLE(:ids) AS asked (id text)
        JOIN account ON account.workspace_id = :workspace_id AND account.id = asked.id
        """,
        workspace_id=workspace_id,
        ids=[(id_,) for id_ in wanted],
    )
    found = {row["id"]: row for row in rows}
    missing = [id_ for id_ in wanted if id_ not in found]
    if missing:
        raise UnknownAccountError(f"the workspace has no account {', '.join(map(repr, missing))}")
    return found


def _content(
    post: Post, channel: Channel, common: Sequence[str], media: Mapping[str, Media]
) -> str:
    """Return the JSON that the road renders; fields that are empty are left out."""
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
    """Merge brand, category and post: read when composing, so that a change of the brand's counts."""
    brand = tx.value("SELECT hashtags FROM workspace WHERE id = :id", id=post.workspace_id)
    category: str | None = None
    if post.category_id is not None:
        category = tx.value(
            "SELECT hashtags FROM category WHERE workspace_id = :workspace_id AND id = :id",
            workspace_id=post.workspace_id,
            id=post.category_id,
        )
    return hashtags.merge(hashtags.read(brand), hashtags.read(category), post.content.hashtags)
