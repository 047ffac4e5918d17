"""A post as each channel gets it."""

import msgspec
import pytest

from cadenza.core.channels import Channel
from cadenza.deliveries.check_fit import StoredPiece
from cadenza.deliveries.render import render
from cadenza.posts.compose import compose
from cadenza.posts.model import PostMedia, Variant
from cadenza.posts.targets import UnknownAccountError
from tests.posts.conftest import ADA, HOME, Desk


class NoFiles:
    """Where no file is read."""

    async def read(self, name: str) -> bytes:
        raise FileNotFoundError(name)


async def test_a_variant_overrides_what_it_names_and_inherits_the_rest(desk: Desk) -> None:
    id_ = await desk.write(
        "for all",
        first_comment="mind the link",
        parts=("two",),
        variants={
            Channel.X: Variant(text="short"),
            Channel.BLUESKY: Variant(first_comment="", parts=()),
        },
    )
    x, sky = await desk.composed(id_, Channel.X), await desk.composed(id_, Channel.BLUESKY)
    assert (x["text"], x["first_comment"], x["parts"]) == ("short", "mind the link", ["two"])
    assert sky == {"text": "for all"}


async def test_hashtags_of_brand_and_post_are_merged_below_the_text(desk: Desk) -> None:
    await desk.sql("UPDATE workspace SET hashtags = :tags", tags='["Ada", "Tea"]')
    id_ = await desk.write("We love #tea", hashtags=("#ada", "#spring sale", "spring sale"))
    assert (await desk.composed(id_, Channel.MASTODON))[
        "text"
    ] == "We love #tea\n\n#Ada #springsale"


async def test_a_variants_own_hashtags_stand_instead_of_all_others(desk: Desk) -> None:
    id_ = await desk.write(
        "hello", hashtags=("one",), variants={Channel.X: Variant(hashtags=("two",))}
    )
    assert (await desk.composed(id_, Channel.X))["text"] == "hello\n\n#two"


@pytest.mark.parametrize("channel", [Channel.EMAIL, Channel.SLACK, Channel.WEBHOOK])
async def test_no_hashtags_go_where_they_mean_nothing(desk: Desk, channel: Channel) -> None:
    id_ = await desk.write("hello", hashtags=("one",))
    assert (await desk.composed(id_, channel))["text"] == "hello"


async def test_media_become_what_the_road_renders_with_the_posts_own_words(desk: Desk) -> None:
    await desk.file("cat")
    await desk.file("dog", alt="a dog")
    await desk.sql("UPDATE media SET name = 'our dog.jpg' WHERE id = 'dog'")
    id_ = await desk.write("look", media=(PostMedia("cat", "our cat"), PostMedia("dog")))
    (piece,) = await desk.run(lambda tx, _: compose(tx, HOME, id_, [("toots", Channel.MASTODON)]))
    message = render(piece, NoFiles())
    assert [item.alt for item in message.media] == ["our cat", "a dog"]
    assert [item.name for item in message.media] == ["cat.jpg", "our dog.jpg"]


async def test_a_post_never_goes_out_without_a_picture_that_is_gone(desk: Desk) -> None:
    await desk.file("cat")
    id_ = await desk.write("look", media=(PostMedia("cat"),))
    await desk.sql("UPDATE media SET deleted_at = created_at")
    composed = await desk.composed(id_, Channel.MASTODON)
    text = msgspec.json.encode(composed).decode()
    piece = StoredPiece("toots", Channel.MASTODON, text, None)
    with pytest.raises(msgspec.ValidationError):
        render(piece, NoFiles())


async def test_an_account_alone_means_its_usual_channels(desk: Desk) -> None:
    await desk.sql(
        """UPDATE account SET settings = '{"channels": ["instagram_stories"]}' WHERE id = 'skies'"""
    )
    id_ = await desk.write()
    pieces = await desk.run(lambda tx, _: compose(tx, HOME, id_, ["toots", "pics", "skies"]))
    assert [(piece.account_id, piece.channel) for piece in pieces] == [
        ("toots", Channel.MASTODON),
        ("pics", Channel.INSTAGRAM_FEED),
        ("skies", Channel.INSTAGRAM_STORY),
    ]
    assert all(piece.approved for piece in pieces)


async def test_an_unknown_account_is_named(desk: Desk) -> None:
    id_ = await desk.write(by=ADA)
    with pytest.raises(UnknownAccountError, match="no account 'nobody'"):
        await desk.run(lambda tx, _: compose(tx, HOME, id_, ["nobody"]))


async def test_hashtags_come_from_workspace_brand_category_and_post(desk: Desk) -> None:
    await desk.sql("UPDATE workspace SET hashtags = :tags", tags='["Ada"]')
    for id_, parent, tags in (("brand", None, '["tea"]'), ("tips", "brand", '["tips", "TEA"]')):
        await desk.run(
            lambda tx, now, id_=id_, parent=parent, tags=tags: tx.run(
                """
                INSERT INTO category (workspace_id, id, parent_id, name, hashtags, created_at)
                VALUES (:home, :id, :parent, :id, :tags, :now)
                """,
                home=HOME,
                id=id_,
                parent=parent,
                tags=tags,
                now=now,
            )
        )
    post = await desk.write("hello", category_id="tips", hashtags=("own",))
    assert (await desk.composed(post, Channel.X))["text"] == "hello\n\n#Ada #tea #tips #own"
