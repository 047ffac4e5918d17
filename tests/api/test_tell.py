"""What is told without its model is what the model would say."""

import json
from datetime import UTC, date, datetime

from cadenza.api.json_response import json_response
from cadenza.api.queue_schemas import show
from cadenza.api.queues import QueueView
from cadenza.core.zones import Mark
from cadenza.queues.show import Day, Kind, SlotLine, View

AT = datetime(2031, 3, 30, 7, 0, 0, tzinfo=UTC)
LATER = datetime(2031, 3, 30, 7, 0, 0, 250_000, tzinfo=UTC)


def test_a_queue_is_told_as_its_model_shows_it() -> None:
    lines = (
        SlotLine(AT, "2031-03-30T09:00", Kind.EMPTY, Mark.GAP),
        SlotLine(
            LATER,
            "2031-03-30T09:00",
            Kind.FILLED,
            post_id="post",
            ids=("one", "two"),
            channels=("bluesky", "mastodon"),
            state="scheduled",
            note='quotes " and ünïcode \u2028',
            text="A heron",
        ),
    )
    view = View(
        revision=7,
        zone="Europe/Berlin",
        now_there="2031-03-30T08:00",
        paused=True,
        pause_reason="news",
        paused_until=LATER,
        account_state="connected",
        enabled=True,
        to_resume=2,
        next_send=None,
        days=(Day(date(2031, 3, 30), 1, None, blackout=False, lines=lines),),
        next_day=date(2031, 4, 13),
    )
    said = json.loads(bytes(json_response(QueueView, view).body))
    assert said == json.loads(show(QueueView, view).model_dump_json())
    assert QueueView.model_validate(said).days[0].lines[1].channels == ("bluesky", "mastodon")
