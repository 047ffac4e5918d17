"""LinkedIn: whatever goes wrong on the way, one visible post or none and a clear word."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import say
from cadenza.providers.http.redact import Secret
from cadenza.providers.outcome import (
    Absent,
    Disconnected,
    Forbidden,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from tests.providers.contract import FAULTS, drive, fault_name, judge, no_secret_in
from tests.providers.linkedin.fixtures import (
    CANARY,
    LISTS,
    POSTS,
    REFRESH,
    START,
    document,
    linkedin,
    long_film,
)
from tests.providers.pictures import picture

PUTS = "PUT /dms-uploads/{kind}/{name}/{number}/{secret}"
PICTURE_STEPS = ["POST /rest/images", PUTS, "GET /rest/images/{urn}", POSTS]
FILM_STEPS = ["POST /rest/videos", PUTS, "GET /rest/videos/{urn}", POSTS]


@pytest.mark.parametrize("page", [False, True])
async def test_a_post_goes_out_once_with_its_address(page: bool) -> None:
    async with linkedin("Meet us (today) #work @home_office", page=page) as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        urn = ended.outcome.remote_id
        assert ended.outcome.url == f"https://www.linkedin.com/feed/update/{urn}"


@pytest.mark.parametrize("page", [False, True])
@pytest.mark.parametrize("kind", ["one", "two", "film", "document", "link"])
async def test_each_kind_of_content_arrives(kind: str, page: bool) -> None:
    media: dict[str, Any] = {
        "one": (picture(),),
        "two": (picture(), picture("two.png")),
        "film": (long_film(),),
        "document": (document(),),
    }
    link = "https://example.org/a_b" if kind == "link" else None
    async with linkedin(page=page, media=media.get(kind, ()), link=link) as (scene, simulated):
        simulated.piece, simulated.processing = 40_000, timedelta(seconds=15)
        assert scene.provider.validate(scene.message, scene.account) == []
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        content = scene.simulator.visible(simulated)[0].detail["content"]
        shape = {"two": "multiImage", "link": "article"}.get(kind, "media")
        assert set(content) == {shape}
        assert len(simulated.assets) == len(scene.message.media)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("route", PICTURE_STEPS)
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_no_fault_at_any_step_of_a_page_makes_two_posts(
    kind: Kind, details: dict[str, Any], route: str, times: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with linkedin(page=True, media=(picture(),), refreshes=True) as (scene, simulated):
        fault = simulated.faults.plan(kind, route, times=times, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        if kind is not Kind.EXPIRE or times == 1:
            assert isinstance(ended.outcome, Sent), ended.trail
        secrets = [CANARY, REFRESH, *_upload_secrets(simulated)]
        no_secret_in([*_logged(caplog), repr(ended)], secrets)


@pytest.mark.parametrize("route", FILM_STEPS)
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_no_fault_at_any_step_of_a_profile_makes_two_posts(
    kind: Kind, details: dict[str, Any], route: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with linkedin(media=(long_film(),)) as (scene, simulated):
        simulated.piece = 40_000
        fault = simulated.faults.plan(kind, route, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        if route != POSTS and kind is not Kind.EXPIRE:
            assert isinstance(ended.outcome, Sent), ended.trail
        no_secret_in([*_logged(caplog), repr(ended)], [CANARY, *_upload_secrets(simulated)])


@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_an_unconfirmed_send_about_a_page_survives_any_fault_of_the_list(
    kind: Kind, details: dict[str, Any]
) -> None:
    async with linkedin("A (b) #c", page=True) as (scene, simulated):
        simulated.faults.plan(Kind.RESET_AFTER, POSTS)
        fault = simulated.faults.plan(kind, LISTS, **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        assert isinstance(ended.outcome, Unconfirmed if kind is Kind.EXPIRE else Sent)


async def test_a_list_that_lags_is_not_taken_for_absence() -> None:
    async with linkedin(page=True) as (scene, simulated):
        simulated.lag = timedelta(seconds=170)
        simulated.faults.plan(Kind.RESET_AFTER, POSTS)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.attempts == 1


async def test_a_profile_unconfirmed_is_left_to_a_person() -> None:
    async with linkedin() as (scene, simulated):
        simulated.faults.plan(Kind.RESET_AFTER, POSTS)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Unconfirmed)
        assert scene.visible() == ["Good morning"]
        assert ended.attempts == 1


async def test_the_same_text_within_ten_minutes_is_the_same_post() -> None:
    async with linkedin() as (scene, _):
        first = await drive(scene)
        again = await drive(scene)
        judge(again, scene)
        assert isinstance(first.outcome, Sent)
        assert isinstance(again.outcome, Sent)
        assert again.outcome.remote_id == first.outcome.remote_id
        assert "already had" in (again.outcome.note or "")


async def test_the_same_words_of_last_week_are_not_taken_for_the_post() -> None:
    async with linkedin(page=True) as (scene, simulated):
        await drive(scene)
        scene.simulator.clock.advance(timedelta(days=7))
        simulated.faults.plan(Kind.DROP_BEFORE, POSTS)
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert len(scene.visible()) == 2


@pytest.mark.parametrize("page", [False, True])
async def test_a_file_that_linkedin_never_gets_done_with_is_brought_again(page: bool) -> None:
    async with linkedin(page=page, media=(picture(),)) as (scene, simulated):
        simulated.processing = timedelta(days=9)

        async def heal(step: str) -> None:
            if simulated.assets:
                simulated.processing = timedelta()

        scene.before = heal
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent), ended.trail
        assert (len(simulated.assets), ended.returned(Transient)) == (2, 1)
        assert timedelta(hours=1) < ended.waited < timedelta(hours=2)


async def test_another_picture_without_words_is_not_taken_for_the_post() -> None:
    async with linkedin("", page=True, media=(picture(),)) as (scene, simulated):
        await drive(scene)  # one more, moments before
        scene.delivery = "delivery-2"
        simulated.faults.plan(Kind.SILENCE_BEFORE, POSTS)
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent), ended.trail
        assert ended.returned(Absent) == 1
        assert len(scene.visible()) == 2


async def test_a_list_that_shows_no_pictures_leaves_a_post_without_words_to_a_person() -> None:
    async with linkedin("", page=True, media=(picture(),)) as (scene, simulated):
        simulated.faults.plan(Kind.RESET_AFTER, POSTS)
        bare = {"id": "urn:li:share:1", "createdAt": int(START.timestamp() * 1000) + 60_000}
        simulated.faults.plan(
            Kind.ERROR_AFTER, LISTS, times=99, answer=say(200, {"elements": [bare]})
        )
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Unconfirmed)


@pytest.mark.parametrize("step", ["prepare", "publish"])
async def test_a_refused_connection_costs_an_attempt_and_is_not_unconfirmed(step: str) -> None:
    async with linkedin(media=(picture(),)) as (scene, _):
        scene.shut_at(step)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert (ended.returned(Unconfirmed), ended.returned(Transient)) == (0, 1)


@pytest.mark.parametrize("route", PICTURE_STEPS)
async def test_a_token_that_ends_midway_is_renewed_and_the_step_goes_on(route: str) -> None:
    async with linkedin(page=True, media=(picture(),), refreshes=True) as (scene, simulated):
        simulated.faults.plan(Kind.EXPIRE, route)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(Disconnected) == 1


async def test_a_token_without_a_successor_asks_for_a_reconnect() -> None:
    async with linkedin() as (scene, _):
        scene.simulator.clock.advance(timedelta(days=61))
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Disconnected)
        assert ended.outcome.code == "EXPIRED_ACCESS_TOKEN/65602"


@pytest.mark.parametrize("reach", [WaitScope.ACCOUNT, WaitScope.APP])
async def test_a_used_up_day_waits_for_midnight_and_burns_nothing(reach: WaitScope) -> None:
    async with linkedin() as (scene, simulated):
        (simulated.member_day if reach is WaitScope.ACCOUNT else simulated.app_day).limit = 0
        began = scene.simulator.clock.now()

        async def lift(step: str) -> None:
            if scene.simulator.clock.now().date() > began.date():
                simulated.member_day.limit = simulated.app_day.limit = 9

        scene.before = lift
        ended = await drive(scene)
        judge(ended, scene)
        waits = [each for each in ended.trail if isinstance(each, TryLater)]
        assert [(each.reach, each.wait) for each in waits] == [
            (reach, timedelta(hours=15, minutes=1))
        ]
        assert ended.returned(Transient) == 0


async def test_one_members_limit_does_not_stop_another() -> None:
    async with linkedin() as (scene, simulated):
        simulated.member_day.limit = 1
        await drive(scene)
        ben = simulated.add_person("Ben")
        scene.tokens = replace(scene.tokens, access=Secret(ben))
        scene.account = replace(scene.account, remote_id=simulated.tokens[ben].person)
        scene.seen_as = scene.account.remote_id
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(TryLater) == 0


async def test_a_closed_version_parks_the_app_for_its_operator() -> None:
    async with linkedin() as (scene, _):
        scene.app = replace(scene.app, options={"version": "202401"})

        async def mend(step: str) -> None:
            if scene.simulator.clock.now().hour > 9:
                scene.app = replace(scene.app, options={"version": "202606"})

        scene.before = mend
        ended = await drive(scene)
        judge(ended, scene)
        parked = next(each for each in ended.trail if isinstance(each, TryLater))
        assert parked.reach is WaitScope.APP
        assert "newer version" in parked.message


async def test_a_page_without_a_role_is_a_right_that_a_person_must_give() -> None:
    async with linkedin(page=True) as (scene, simulated):
        simulated.people[simulated.tokens[CANARY].person].roles[scene.account.remote_id] = "ANALYST"
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Forbidden)


@pytest.mark.parametrize("page", [False, True])
async def test_a_file_that_is_no_picture_is_rejected(page: bool) -> None:
    async with linkedin(page=page, media=(picture(data=b"not a picture"),)) as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Rejected)


async def test_what_validate_lets_through_linkedin_takes() -> None:
    text = "(_)" * 333 + " #tag" * 50
    async with linkedin(text) as (scene, _):
        assert [p.code for p in scene.provider.validate(scene.message, scene.account)] == []
        judge(await drive(scene), scene)
        scene.message = replace(scene.message, text="(_)" * 501)
        found = scene.provider.validate(scene.message, scene.account)
        assert [problem.code for problem in found] == ["too_long"]
        assert isinstance((await drive(scene)).outcome, Rejected)


async def test_a_token_echoed_by_linkedin_is_not_passed_on() -> None:
    async with linkedin() as (scene, simulated):
        words = {"status": 400, "code": CANARY, "message": f"{CANARY} is odd"}
        simulated.faults.plan(Kind.ERROR_BEFORE, POSTS, answer=say(400, words))
        ended = await drive(scene)
        assert isinstance(ended.outcome, Rejected)
        no_secret_in([repr(ended)], [CANARY])


def _upload_secrets(simulated: Any) -> list[str]:
    return [asset.secret for asset in simulated.assets.values()]


def _logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [caplog.text, *(str(record.__dict__) for record in caplog.records)]
