"""The simulator itself: endpoints, faults on the wire, counters, clock, ids and the page."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from cadenza.demo.simulator.counters import Buckets, FixedWindows
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.fetch import Fetched, NotFetched, fetch
from cadenza.demo.simulator.ids import Ids
from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.network import SimulatedNetwork, route
from cadenza.demo.simulator.serve import serve, simulate
from cadenza.demo.simulator.sniff import Sniffed, sniff
from cadenza.demo.simulator.wire import Answer, Received, say
from cadenza.providers.http.outcome import MayHaveArrived, NotSent, Reply
from cadenza.providers.http.request import Json, Request
from tests.providers.contract import open_client
from tests.providers.pictures import jpeg, mp4, png

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class Board(SimulatedNetwork):
    """A network that shows what it is told."""

    name = "board"

    def account_of(self, call: Received) -> str | None:
        return call.args.get("who")

    @route("POST", "/notes/{who}")
    async def post(self, call: Received) -> Answer:
        text = call.json()["text"]
        note = self.shared.ids.number(16)
        self.show(
            Entry(
                simulated=self.name,
                account=call.args["who"],
                remote_id=note,
                text=text,
                at=self.now,
            )
        )
        return say(201, {"id": note})


def _note(board: Board, text: str = "hi") -> Request:
    return Request("POST", f"{board.url()}/notes/ada", body=Json({"text": text}))


async def test_what_is_posted_is_visible_with_its_time() -> None:
    board = Board()
    async with simulate(board, start=START) as shared, open_client(board) as http:
        shared.clock.advance(timedelta(hours=1))
        reply = await http.send(_note(board))
        assert isinstance(reply, Reply)
        (entry,) = shared.visible(board, "ada")
        assert (entry.remote_id, entry.at) == (reply.json()["id"], START + timedelta(hours=1))


@pytest.mark.parametrize(
    ("kind", "effect", "answer"),
    [
        (Kind.DROP_BEFORE, 0, MayHaveArrived),
        (Kind.RESET_AFTER, 1, MayHaveArrived),
        (Kind.DROP_AFTER, 1, MayHaveArrived),
        (Kind.SILENCE_AFTER, 1, MayHaveArrived),
        (Kind.TRUNCATE_AFTER, 1, MayHaveArrived),
        (Kind.DELAY, 1, MayHaveArrived),
        (Kind.ERROR_BEFORE, 0, Reply),
        (Kind.ERROR_AFTER, 1, Reply),
        (Kind.HTML_AFTER, 1, Reply),
        (Kind.DRIP, 1, MayHaveArrived),
        (Kind.TWICE, 2, Reply),
    ],
)
async def test_a_fault_is_acted_out_on_the_wire(
    kind: Kind, effect: int, answer: type[object]
) -> None:
    board = Board()
    async with simulate(board, start=START) as shared, open_client(board) as http:
        fault = board.faults.plan(kind, "POST /notes/*", seconds=0.7)
        assert isinstance(await http.send(_note(board)), answer)
        await shared.quiet()
        assert len(shared.visible(board)) == effect
        assert fault.met == 1
        assert len(shared.ledger.duplicates()) == max(0, effect - 1)
        assert isinstance(await http.send(_note(board, "again")), Reply)


async def test_a_fault_waits_for_its_turn() -> None:
    board = Board()
    async with simulate(board) as shared, open_client(board) as http:
        board.faults.plan(Kind.ERROR_BEFORE, nth=2, times=2)
        replies = [await http.send(_note(board, str(each))) for each in range(4)]
        assert [each.status for each in replies if isinstance(each, Reply)] == [201, 502, 502, 201]
        assert [each.text for each in shared.visible(board)] == ["0", "3"]


async def test_a_fault_may_be_one_accounts_alone() -> None:
    board = Board()
    async with simulate(board) as shared, open_client(board) as http:
        board.faults.plan(Kind.ERROR_BEFORE, account="ben", times=9)
        assert isinstance(await http.send(_note(board)), Reply)
        ben = await http.send(Request("POST", f"{board.url()}/notes/ben", body=Json({"text": "b"})))
        assert isinstance(ben, Reply)
        assert ben.status == 502
        assert [each.account for each in shared.visible(board)] == ["ada"]


async def test_worlds_take_the_ports_that_a_person_names() -> None:
    first, second = Board(), Board()
    simulator = await serve((first,))
    port = first.ports["api"]
    await simulator.close()
    simulator = await serve((second,), port)
    assert second.url() == f"http://127.0.0.1:{port}"
    await simulator.close()


async def test_a_shut_door_refuses_and_opens_at_the_same_place() -> None:
    board = Board()
    async with simulate(board) as shared, open_client(board) as http:
        place = board.url()
        await shared.close_endpoint(board)
        assert isinstance(await http.send(_note(board)), NotSent)
        await shared.open_endpoint(board)
        assert board.url() == place
        assert isinstance(await http.send(_note(board)), Reply)


async def test_a_wrong_body_path_or_method_is_refused() -> None:
    board = Board()
    async with simulate(board), open_client(board) as http:
        for request in (
            Request("POST", f"{board.url()}/notes/ada", body=b"text=hi"),
            Request("POST", f"{board.url()}/other", body=Json({})),
            Request("GET", f"{board.url()}/notes/ada"),
        ):
            reply = await http.send(request)
            assert isinstance(reply, Reply)
            assert reply.status in {400, 404}


async def test_a_request_that_a_handler_does_not_understand_is_refused_and_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    board = Board()
    async with simulate(board) as shared, open_client(board) as http:
        request = Request("POST", f"{board.url()}/notes/ada", body=Json({"words": "hi"}))
        reply = await http.send(request)
        assert isinstance(reply, Reply)
        assert reply.status == 400
        assert shared.visible(board) == []
        assert "POST /notes/{who} was not understood" in caplog.text


async def test_the_page_shows_what_arrived_and_no_markup_of_theirs() -> None:
    board = Board()
    async with simulate(board) as _, open_client(board) as http:
        await http.send(_note(board, "<script>alert(1)</script>"))
        page = await http.send(Request("GET", f"{board.url()}/__simulator"))
        assert isinstance(page, Reply)
        assert "&lt;script&gt;" in page.text
        assert "<script>" not in page.text
        listed = await http.send(Request("GET", f"{board.url()}/__simulator/ledger.json"))
        assert isinstance(listed, Reply)
        assert json.loads(listed.body)[0]["account"] == "ada"


async def test_media_are_really_fetched_and_really_looked_at() -> None:
    board = Board()
    async with simulate(board) as shared:
        sea = shared.put_media(board, "sea.png", "image/png", png())
        lie = shared.put_media(board, "lie.png", "image/png", b"<html>please sign in</html>")
        types = ("image/png",)
        assert await fetch(sea, types=types, limit=9999) == Fetched("image/png", png())
        for url, limit in ((lie, 9999), (sea, 10), (f"{sea}x", 9999), ("nowhere", 9999)):
            assert isinstance(await fetch(url, types=types, limit=limit), NotFetched)


def test_files_are_known_by_their_content() -> None:
    assert sniff(png(3, 4)) == Sniffed("image/png", 3, 4)
    assert sniff(jpeg(5, 6)) == Sniffed("image/jpeg", 5, 6)
    assert sniff(mp4()) == Sniffed("video/mp4")
    assert sniff(b"text") is None


def test_the_same_seed_gives_the_same_ids_and_none_twice() -> None:
    one, two = Ids(7), Ids(7)
    made = [one.number(3) for _ in range(500)]
    assert made == [two.number(3) for _ in range(500)]
    assert len(set(made)) == 500


def test_a_record_key_sorts_by_time() -> None:
    ids = Ids()
    assert ids.tid(START) < ids.tid(START + timedelta(microseconds=1))


def test_a_window_counts_and_begins_again() -> None:
    windows = FixedWindows(2, timedelta(minutes=5))
    hits = [windows.hit("ada", START + timedelta(seconds=each)) for each in (0, 1, 2, 300)]
    assert [hit.allowed for hit in hits] == [True, True, False, True]
    assert hits[2].resets_at == START + timedelta(minutes=5)


def test_a_bucket_takes_a_burst_then_one_at_a_time() -> None:
    buckets = Buckets(2, timedelta(seconds=3))
    waits = [buckets.wait("chat", START) for _ in range(3)]
    assert waits == [timedelta(), timedelta(), timedelta(seconds=3)]
    assert buckets.wait("chat", START + timedelta(seconds=3)) == timedelta()
