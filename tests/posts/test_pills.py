"""How deliveries show: pills and roll-up, for every mix of states."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.rollup import DROPPED, PostState
from cadenza.core.rollup import DeliveryState as State
from cadenza.posts.pills import pills_of, roll_up_of

NOW = datetime(2026, 5, 12, 9, tzinfo=UTC)


def row(**changes: Any) -> dict[str, Any]:
    return {
        "id": "d1",
        "post_id": "p",
        "account_id": "toots",
        "channel": "mastodon",
        "state": "scheduled",
        "reason": None,
        "due_at": NOW - timedelta(minutes=1),
        "wall_time": None,
        "zone": None,
        "approved": True,
        "attempts": 0,
        "leased_until": None,
        "url": None,
        "sent_at": None,
        "last_attempt_at": None,
        "failed_at": None,
        "doubted_at": None,
        "created_at": NOW - timedelta(days=1),
        "handle": "@toots",
        "provider": "mastodon",
        "account_zone": "Europe/Berlin",
        "account_state": "connected",
        "state_reason": None,
        "paused": False,
        "pause_reason": None,
        "paused_until": None,
        "parked_until": None,
        "park_reason": None,
        "unresumed_until": None,
        "stopped_at": None,
        "stop_reason": None,
        "unfit": None,
        **changes,
    }


ROWS = st.lists(
    st.builds(
        row,
        account_id=st.sampled_from(["toots", "skies"]),
        channel=st.sampled_from(["mastodon", "bluesky"]),
        state=st.sampled_from([state.value for state in State]),
        paused=st.booleans(),
        approved=st.booleans(),
        attempts=st.integers(0, 2),
        account_state=st.sampled_from(["connected", "needs_reconnect"]),
        created_at=st.integers(0, 9).map(lambda n: NOW - timedelta(days=n)),
        sent_at=st.none() | st.just(NOW),
    ),
    max_size=8,
)


@given(ROWS)
def test_there_is_one_pill_a_place_and_each_says_its_state_in_words(
    rows: list[dict[str, Any]],
) -> None:
    pills = pills_of(rows, NOW)
    places = [(pill.account_id, pill.channel) for pill in pills]
    assert sorted(places) == sorted({(r["account_id"], r["channel"]) for r in rows})
    assert all(pill.label for pill in pills)
    for pill in pills:
        alive = [
            r
            for r in rows
            if (r["account_id"], r["channel"]) == (pill.account_id, pill.channel)
            and r["state"] not in DROPPED
        ]
        assert (pill.state in DROPPED) == (not alive)
        assert (pill.label in ("Held", "Paused")) == (pill.held is not None)
        assert pill.held is None or pill.reason == pill.held.message


@given(ROWS)
def test_the_roll_up_is_that_of_what_was_not_dropped(rows: list[dict[str, Any]]) -> None:
    kept = [r for r in rows if r["state"] not in DROPPED]
    assert roll_up_of(rows) == roll_up_of(kept)
    if not kept:
        assert roll_up_of(rows).state is PostState.DRAFT
    if any(r["state"] == "sending" for r in kept):
        assert roll_up_of(rows).state is PostState.PUBLISHING


def label(**changes: Any) -> str:
    (pill,) = pills_of([row(**changes)], NOW)
    return f"{pill.label}: {pill.reason}" if pill.reason else pill.label


def test_a_pill_names_what_holds_it() -> None:
    assert label(paused=True, pause_reason="a recall") == "Paused: a recall"
    assert label(unfit="too long") == "Can't be sent: too long"
    assert label(stopped_at=NOW, stop_reason="fire") == "Held: the workspace is stopped: fire"
    parked = NOW + timedelta(hours=1)
    assert label(parked_until=parked, park_reason="flood wait") == "Held: flood wait"
    lost = label(account_state="needs_reconnect", due_at=NOW + timedelta(days=1))
    assert lost == "Held: the account has to be connected again"
    came_due = label(unresumed_until=NOW)
    assert came_due == "Held: it came due while the account was disconnected"


def test_a_running_retry_is_not_hidden_and_an_unconfirmed_send_asks_to_be_checked() -> None:
    assert label(attempts=1, reason="the server was away") == "Retrying: the server was away"
    assert label(state="unconfirmed") == "Check needed"
    assert label(state="draft", approved=False) == "Waits for approval"
    assert label(state="draft") == "Taken back"


def test_what_a_pause_or_a_stop_outlasts_shows_as_held_before_it_is_due() -> None:
    later = NOW + timedelta(days=1)
    (paused,) = pills_of([row(due_at=later, paused=True, pause_reason="news")], NOW)
    assert (paused.label, paused.reason) == ("Paused", "news")
    ends = {"paused": True, "paused_until": NOW + timedelta(hours=1)}
    (goes,) = pills_of([row(due_at=later, **ends)], NOW)
    assert (goes.label, goes.held) == ("Scheduled", None)
    (stopped,) = pills_of([row(due_at=later, stopped_at=NOW, stop_reason="a storm")], NOW)
    assert stopped.label == "Held"
