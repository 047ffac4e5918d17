"""Importing posts from CSV files, on both databases."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from cadenza.posts.import_csv import Order, Report, import_csv
from cadenza.posts.read_csv import Unreadable
from cadenza.queues.queue_imports import QUEUES
from cadenza.queues.schedule import Written, write
from tests.posts.conftest import ADA, CY, HOME, Desk

SOON = (datetime.now(UTC) + timedelta(days=3)).strftime("%Y-%m-%d")


async def take(desk: Desk, text: str, **order: Any) -> Report:
    words: dict[str, Any] = {"workspace_id": HOME, "by": ADA, **order}
    report = await import_csv(desk.operations, text.encode(), Order(**words), queues=QUEUES)
    assert isinstance(report, Report), report
    return report


async def with_queue(desk: Desk, account: str = "toots", **more: Any) -> None:
    week = {str(day): ["09:00", "17:00"] for day in range(7)}
    answer = await desk.run(
        lambda tx, now: write(
            tx, now, workspace_id=HOME, account_id=account, slots=week, by=ADA, **more
        )
    )
    assert isinstance(answer, Written)


async def test_a_row_without_a_time_is_a_draft(desk: Desk) -> None:
    report = await take(desk, "text,title,labels\nhello,Greeting,spring\n")

    (done,) = report.done
    post = await desk.post(done.post_id)
    assert (post.content.text, post.title, post.labels) == ("hello", "Greeting", ("spring",))
    assert (report.made, report.problems, done.due_at) == (1, (), None)
    assert await desk.rows("delivery") == []


async def test_a_row_with_a_time_goes_then_in_the_workspaces_zone(desk: Desk) -> None:
    report = await take(desk, f"text,accounts,when\nhello,@toots; SKIES,{SOON} 09:00\n")

    deliveries = await desk.rows("delivery")
    assert {row["account_id"] for row in deliveries} == {"toots", "skies"}
    assert {row["wall_time"] for row in deliveries} == {f"{SOON}T09:00"}
    assert {row["zone"] for row in deliveries} == {"Europe/Berlin"}
    assert report.done[0].due_at == deliveries[0]["due_at"]
    assert report.done[0].approved


async def test_a_row_that_says_queue_gets_the_next_free_slots_in_order(desk: Desk) -> None:
    await with_queue(desk)

    report = await take(desk, "text,accounts,when\none,toots,queue\ntwo,toots,queue\n")

    first, second = (done.due_at for done in report.done)
    assert first is not None
    assert second is not None
    assert first < second
    assert len(await desk.rows("delivery")) == 2


async def test_the_same_file_twice_makes_no_second_post(desk: Desk) -> None:
    text = f"text,accounts,when\none,toots,{SOON} 09:00\ntwo,skies,\n"
    first = await take(desk, text)
    again = await take(desk, text.replace(",", ";"))

    assert (first.made, first.again) == (2, 0)
    assert (again.made, again.again) == (0, 2)
    assert [done.post_id for done in again.done] == [done.post_id for done in first.done]
    assert len(await desk.rows("post")) == 2


async def test_the_same_file_twice_at_once_makes_no_second_post(desk: Desk) -> None:
    text = "text\n" + "".join(f"post {number}\n" for number in range(20))

    reports = await asyncio.gather(*(take(desk, text) for _ in range(4)))

    assert sum(report.made for report in reports) == 20
    assert len(await desk.rows("post")) == 20


async def test_a_file_that_grew_adds_what_is_new(desk: Desk) -> None:
    await take(desk, "text\none\n")
    report = await take(desk, "text\none\ntwo\n")
    assert (report.made, report.again) == (1, 1)


async def test_a_key_that_comes_back_with_other_words_is_told(desk: Desk) -> None:
    await take(desk, "key,text\n1,hello\n")
    report = await take(desk, "key,text\n1,hello there\n")

    (problem,) = report.problems
    assert problem.column == "key"
    assert "edit the post" in problem.todo
    assert len(await desk.rows("post")) == 1


async def test_two_rows_that_say_the_same_are_one_post(desk: Desk) -> None:
    report = await take(desk, "text\nhello\nhello\n")
    assert (report.made, report.again) == (1, 1)


BAD = f"""text,accounts,when,media
fine,toots,{SOON} 09:00,
nowhere,@tots,{SOON} 09:00,
past,toots,2020-01-01 09:00,
no file,,,cat.jpg
no slot,skies,queue,
story,pics/mastodon,{SOON} 09:00,
also fine,,,
"""


async def test_a_bad_row_stops_no_other_and_each_says_what_to_do(desk: Desk) -> None:
    report = await take(desk, BAD)

    assert [(problem.row, problem.column) for problem in report.problems] == [
        (3, "accounts"),
        (4, "when"),
        (5, "media"),
        (6, "when"),
        (7, "accounts"),
    ]
    assert all(problem.wrong and problem.todo for problem in report.problems)
    assert "Did you mean '@toots'" in report.problems[0].wrong
    assert report.made == 2
    assert len(await desk.rows("post")) == 2
    assert len(await desk.rows("delivery")) == 1
    assert len(await desk.rows("post_import")) == 2


async def test_all_or_nothing_makes_nothing_when_one_row_is_bad(desk: Desk) -> None:
    report = await take(desk, BAD, all_or_nothing=True)

    assert report.taken_back
    assert report.made == 0
    assert [problem.row for problem in report.problems] == [3, 4, 5, 6, 7]
    for table in ("post", "delivery", "post_import", "audit"):
        assert await desk.rows(table) == []


async def test_all_or_nothing_heeds_rows_that_could_not_even_be_read(desk: Desk) -> None:
    report = await take(desk, "text,when\nfine,\nbad,now\n", all_or_nothing=True)

    assert report.taken_back
    assert await desk.rows("post") == []


async def test_all_or_nothing_makes_all_when_all_are_well(desk: Desk) -> None:
    report = await take(desk, "text\none\ntwo\n", all_or_nothing=True)
    assert (report.made, report.taken_back) == (2, False)


async def test_all_or_nothing_has_a_bound_and_says_so(desk: Desk) -> None:
    text = "text\n" + "".join(f"{number}\n" for number in range(501))
    order = Order(workspace_id=HOME, by=ADA, all_or_nothing=True)
    refused = await import_csv(desk.operations, text.encode(), order)
    assert isinstance(refused, Unreadable)
    assert "500" in refused.wrong


async def test_a_dry_run_reports_the_same_and_leaves_nothing(desk: Desk) -> None:
    dry = await take(desk, BAD, dry_run=True)
    for table in ("post", "delivery", "post_import", "audit"):
        assert await desk.rows(table) == []

    real = await take(desk, BAD)
    assert dry.problems == real.problems
    assert [done.row for done in dry.done] == [done.row for done in real.done]
    assert dry.made == real.made


async def test_a_dry_run_tells_of_long_files_what_an_import_does(desk: Desk) -> None:
    await with_queue(desk)
    rows = [f"{n % 55},words {n % 55},toots,queue" for n in range(60)]
    text = "\n".join(["key,text,accounts,when", *rows])
    dry = await take(desk, text, dry_run=True)
    assert await desk.rows("delivery") == []
    assert (dry.made, dry.again, dry.left) == (55, 5, 0)
    assert len({done.due_at for done in dry.done if not done.again}) == 55

    real = await take(desk, text)
    assert [(d.row, d.due_at, d.again) for d in dry.done] == [
        (d.row, d.due_at, d.again) for d in real.done
    ]


async def test_the_same_words_twice_are_noted_of_the_second_row(desk: Desk) -> None:
    await with_queue(desk)
    text = f"key,text,accounts,when\n1,hello,toots,queue\n2,Hello,toots,queue\n3,hello,toots,{SOON} 09:05\n"
    report = await take(desk, text)
    said = [[note for note in done.notes if "the same words" in note] for done in report.done]
    assert [len(notes) for notes in said] == [0, 1, 1]


async def test_a_row_that_a_network_would_not_take_is_refused_and_a_draft_is_not(
    desk: Desk,
) -> None:
    await with_queue(desk, "skies")
    long = "x" * 301
    text = f"text,accounts,when\n{long},skies,queue\n{long},toots;skies,{SOON} 09:00\nhello,skies,queue\n"
    for dry_run in (True, False):
        report = await take(desk, text, dry_run=dry_run)
        assert [(each.row, each.column) for each in report.problems] == [(2, "text"), (3, "text")]
        assert all(
            "300" in each.wrong and "leave that account out" in each.todo
            for each in report.problems
        )
        assert [done.row for done in report.done] == [4]
    drafts = await take(desk, f"text\nA draft {long}\n")
    assert drafts.done[0].notes == ()  # nobody knows yet where it goes


async def test_a_dry_run_says_where_it_ends(desk: Desk) -> None:
    text = "text\n" + "".join(f"{number}\n" for number in range(502))
    dry = await take(desk, text, dry_run=True)
    assert (dry.made, dry.left) == (500, 2)
    assert (await take(desk, text)).left == 0


async def test_a_refused_row_holds_no_slot_in_a_dry_run_either(desk: Desk) -> None:
    await with_queue(desk)
    text = "text,accounts,when\nrefused,toots; skies,queue\nnext,toots,queue\n"
    dry, real = await take(desk, text, dry_run=True), await take(desk, text)
    assert [problem.row for problem in dry.problems] == [2]  # one of its accounts has no queue
    assert [done.due_at for done in dry.done] == [done.due_at for done in real.done]
    assert len(await desk.rows("delivery")) == 1


async def test_a_dry_run_of_a_good_file_leaves_nothing_either(desk: Desk) -> None:
    await with_queue(desk)
    text = f"text,accounts,when\none,toots,{SOON} 09:00\ntwo,toots,queue\n"
    audits = len(await desk.rows("audit"))

    for all_or_nothing in (False, True):
        report = await take(desk, text, dry_run=True, all_or_nothing=all_or_nothing)
        assert (report.made, report.problems) == (2, ())

    for table in ("post", "delivery", "post_import"):
        assert await desk.rows(table) == []
    assert len(await desk.rows("audit")) == audits


async def test_media_are_found_by_id_or_by_name(desk: Desk) -> None:
    await desk.file("m1")
    report = await take(desk, "text,media\nby id,m1\nby name,cat.jpg\n")

    assert report.problems == ()
    shown = [await desk.post(done.post_id) for done in report.done]
    assert [post.content.media_ids for post in shown] == [("m1",), ("m1",)]


async def test_a_name_that_two_files_have_is_asked_about(desk: Desk) -> None:
    await desk.file("m1")
    await desk.file("m2")
    (problem,) = (await take(desk, "text,media\nhello,cat.jpg\n")).problems
    assert "m1, m2" in problem.todo


async def test_a_handle_that_two_accounts_have_is_asked_about(desk: Desk) -> None:
    await desk.sql("UPDATE account SET handle = '@ada' WHERE id IN ('toots', 'skies')")
    text = f"text,accounts,when\nhello,@ada,{SOON} 09:00\n"

    (problem,) = (await take(desk, text)).problems
    assert "bluesky:@ada, mastodon:@ada" in problem.wrong
    report = await take(desk, text.replace("@ada", "mastodon:@ada"))
    assert report.made == 1


async def test_who_may_not_approve_imports_posts_that_wait(desk: Desk) -> None:
    report = await take(desk, f"text,accounts,when\nhello,toots,{SOON} 09:00\n", by=CY)

    (done,) = report.done
    assert not done.approved
    assert "viewer" in done.notes[0]
    assert [row["state"] for row in await desk.rows("delivery")] == ["draft"]


async def test_a_formula_in_a_file_is_a_text_like_any_other(desk: Desk) -> None:
    report = await take(desk, "text\n=1+1\n")
    assert (await desk.post(report.done[0].post_id)).content.text == "=1+1"
