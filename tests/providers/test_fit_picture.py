"""What becomes of a picture that a network does not take: planned from its limits, for every network alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.providers.check_message import check_message
from cadenza.providers.fit_picture import (
    FittedFile,
    PictureChange,
    PictureRules,
    fitted,
    plan,
    planned,
    rules_of,
    scale_within,
    write_size,
)
from cadenza.providers.message import AccountRef, MediaItem, MediaKind, Message
from cadenza.providers.registry import all_providers
from tests.providers.pictures import film, picture

ADA = AccountRef(id="a1", remote_id="ada", settings={"chat_id": "1", "url": "https://x.example"})
NETWORKS = {
    "bluesky": Channel.BLUESKY,
    "discord": Channel.DISCORD,
    "facebook": Channel.FACEBOOK_PAGE,
    "instagram": Channel.INSTAGRAM_FEED,
    "linkedin": Channel.LINKEDIN_PROFILE,
    "mastodon": Channel.MASTODON,
    "telegram": Channel.TELEGRAM,
    "threads": Channel.THREADS,
    "x": Channel.X,
}
LARGE = replace(
    picture("sea.png"), size=29_000_000, width=7000, height=6500, url="https://media.example/sea"
)


def refusals(provider: str, item: MediaItem) -> set[str]:
    message = Message(channel=NETWORKS[provider], text="Sea", media=(item,))
    found = all_providers()[provider].validate(message, ADA)
    return {each.code for each in found if each.blocking}


@pytest.mark.parametrize("provider", NETWORKS)
@pytest.mark.parametrize("mime", ["image/png", "image/jpeg", "image/webp"])
def test_a_picture_that_is_too_large_is_planned_so_that_the_network_takes_it(
    provider: str, mime: str
) -> None:
    item = replace(LARGE, mime=mime)
    assert refusals(provider, item)
    change = plan(item, rules_of(provider, NETWORKS[provider], ADA))
    assert change is not None
    assert refusals(provider, planned(item, change)) == set()


@pytest.mark.parametrize("provider", NETWORKS)
def test_what_fits_is_left_alone(provider: str) -> None:
    rules = rules_of(provider, NETWORKS[provider], ADA)
    small = replace(picture("sea.jpg"), mime="image/jpeg", size=900_000, width=1200, height=900)
    assert plan(small, rules) is None


@pytest.mark.parametrize("provider", NETWORKS)
def test_what_moves_is_never_turned_into_a_still(provider: str) -> None:
    rules = rules_of(provider, NETWORKS[provider], ADA)
    gif = replace(LARGE, kind=MediaKind.GIF, mime="image/gif", seconds=0.0)
    for item in (gif, replace(LARGE, mime="image/webp", seconds=2.5), replace(film(), size=10**9)):
        assert plan(item, rules) is None


def test_a_png_becomes_a_jpeg_where_only_jpegs_are_taken() -> None:
    item = replace(picture("sea.png"), width=1000, height=1000)
    change = plan(item, rules_of("instagram", Channel.INSTAGRAM_FEED, ADA))
    assert change == PictureChange(bytes=8_000_000, pixels=None, sides=None)
    assert rules_of("webhook", Channel.WEBHOOK, ADA) is None


def test_an_instance_with_its_own_limit_is_heeded() -> None:
    account = replace(ADA, settings={"limits": {"image_bytes": 1000}})
    rules = rules_of("mastodon", Channel.MASTODON, account)
    assert plan(replace(picture(), size=1001), rules) is not None
    assert plan(replace(picture(), size=1000), rules) is None


@pytest.mark.parametrize(
    ("bounds", "width", "height"),
    [
        ({"pixels": 1_000_000}, 4000, 3000),
        ({"sides": 10_000}, 9000, 9000),
        ({"pixels": 100, "sides": 10}, 30, 10),
    ],
)
def test_sides_shrink_to_the_tightest_bound(
    bounds: dict[str, Any], width: int, height: int
) -> None:
    change = PictureChange(**{"bytes": None, "pixels": None, "sides": None, **bounds})
    scale = scale_within(change, width, height)
    across, down = int(width * scale), int(height * scale)
    assert 0 < scale < 1
    assert change.pixels is None or across * down <= change.pixels
    assert change.sides is None or across + down <= change.sides


def test_it_is_said_what_is_done() -> None:
    item = replace(picture("sea.png"), size=1_900_000, width=2000, height=1000)
    change = plan(item, PictureRules(types=("image/jpeg",), bytes=2_000_000))
    assert change is not None
    made = FittedFile(file="f", mime="image/jpeg", size=800_000, width=2000, height=1000)
    before, after = planned(item, change).fitting, fitted(item, change, made).fitting
    assert before is not None
    assert after is not None
    assert before.message == "sea.png will be converted to JPEG, 2 MB at most."
    assert after.message == "sea.png: converted to JPEG, 1.9 MB → 0.8 MB."
    assert (before.made, after.made) == (False, True)
    assert fitted(item, change, made).name == "sea.jpg"
    smaller = fitted(
        replace(item, mime="image/jpeg"), change, replace(made, width=1500, height=750)
    )
    assert smaller.fitting is not None
    assert smaller.fitting.message == (
        "sea.png: made smaller, 1.9 MB → 0.8 MB, 2000×1000 → 1500×750."
    )
    moved = fitted(item, change, replace(made, stopped=True)).fitting
    assert moved is not None
    assert "only its first frame is sent" in moved.message
    assert [write_size(each) for each in (1, 99_000, 100_000, 2_000_000)] == [
        *("1 kB", "99 kB", "0.1 MB", "2 MB"),
    ]


def test_a_finding_names_the_file_as_its_owner_does() -> None:
    tower = replace(picture("tower.png"), width=400, height=2000, url="https://media.example/t")
    change = plan(tower, rules_of("instagram", Channel.INSTAGRAM_FEED, ADA))
    assert change is not None
    made = FittedFile(file="f", mime="image/jpeg", size=900, width=400, height=2000)
    for item in (planned(tower, change), fitted(tower, change, made)):
        message = Message(channel=Channel.INSTAGRAM_FEED, text="Sea", media=(item,))
        found = check_message(all_providers()["instagram"], message, ADA)
        assert [each.message.split()[0] for each in found if each.blocking] == ["tower.png"]


def test_a_check_tells_of_the_change_without_blocking() -> None:
    change = plan(LARGE, rules_of("bluesky", Channel.BLUESKY, ADA))
    assert change is not None
    message = Message(channel=Channel.BLUESKY, text="Sea", media=(planned(LARGE, change),))
    (found,) = check_message(all_providers()["bluesky"], message, ADA)
    assert (found.code, found.field, found.blocking) == ("media_fitted", "media", False)
