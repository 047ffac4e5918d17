"""Bad input: a clear error that says what to do, and nothing stored."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from cadenza.engine import Debounce, Engine, InvalidJob, Limit, Rate, Running, Throttle
from cadenza.engine.store import Store
from tests.engine.conftest import finished, working


@pytest.fixture
def greeter(engine: Engine) -> Engine:
    @engine.task
    async def greet(name: str, times: int = 1) -> None: ...

    return engine


async def nothing_stored(store: Store) -> bool:
    return not await store.tally() and not await store.schedules() and not await store.gates()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quene": "mail"}, "unknown option 'quene'; did you mean 'queue'?"),
        ({"priorty": 1}, "did you mean 'priority'?"),
        ({"delay": -1}, "delay must not be negative"),
        ({"delay": float("inf")}, "delay of inf seconds is not a time span"),
        ({"delay": "5"}, "delay must be a timedelta or a number of seconds"),
        ({"delay": True}, "delay must be a timedelta"),
        ({"run_at": datetime(2026, 5, 1, 9)}, "has no time zone"),  # noqa: DTZ001 - that is the point
        ({"run_at": "tomorrow"}, "run_at must be a datetime"),
        ({"queue": ""}, "queue must be 1 to 200 printable characters"),
        ({"queue": "a\x00b"}, "printable"),
        ({"queue": 7}, "queue must be str"),
        ({"priority": 40_000}, "priority must be from -32768 to 32767"),
        ({"priority": "high"}, "priority must be int"),
        ({"lane": "x" * 201}, "lane must be 1 to 200"),
        ({"limit": Limit(concurrency=1)}, "name the lane too"),
        ({"lane": "a", "limit": Limit(concurrency=0)}, "to stop a scope, pause it"),
        ({"lane": "a", "limit": Limit(rate=Rate(0, timedelta(1)))}, "at least 1"),
        ({"lane": "a", "limit": Limit(rate=Rate(1, timedelta()))}, "more than zero"),
        ({"unique": "a", "throttle": Throttle("a", timedelta(1))}, "choose one"),
        ({"throttle": Throttle("a", timedelta())}, "more than zero"),
        ({"debounce": Debounce("a", timedelta(2), timedelta(1))}, "at least its wait"),
        ({"time_limit": -2}, "time_limit must not be negative"),
        ({"retry": "often"}, "retry must be RetryPolicy"),
        ({"keep": 7}, "keep must be bool"),
        ({"tags": ("ok", "")}, "tag must be"),
    ],
)
async def test_impossible_options_are_refused(
    greeter: Engine, options: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidJob, match=r".") as refusal:
        await greeter.enqueue("greet", {"name": "Ada"}, **options)

    assert message in str(refusal.value)
    assert await nothing_stored(greeter.store)


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({}, "task 'greet' needs name"),
        ({"nmae": "Ada"}, "takes no argument 'nmae'; did you mean 'name'?"),
        ({"name": 7}, "Expected `str`, got `int` - at `$.name`"),
        ({"name": "Ada", "times": "2"}, "Expected `int`, got `str` - at `$.times`"),
        ({"name": "A\x00"}, "holds a NUL character"),
        ({"name": "\ud800"}, "is not JSON"),
        ({"name": object()}, "is not JSON"),
        ({"name": "x" * 2**20}, "store it elsewhere, pass its name"),
    ],
)
async def test_a_payload_that_does_not_fit_is_refused(
    greeter: Engine, payload: Mapping[str, object], message: str
) -> None:
    with pytest.raises(InvalidJob) as refusal:
        await greeter.enqueue("greet", payload)

    assert message in str(refusal.value)
    assert await nothing_stored(greeter.store)


async def test_one_bad_payload_of_many_stores_none(greeter: Engine) -> None:
    with pytest.raises(InvalidJob):
        await greeter.enqueue_many("greet", [{"name": "Ada"}, {"name": 3}])

    assert await nothing_stored(greeter.store)


async def test_one_bad_payload_of_thousands_stores_none(greeter: Engine) -> None:
    payloads: list[dict[str, object]] = [{"name": "Ada"}] * 3000
    with pytest.raises(InvalidJob, match=r"\$\.name"):
        await greeter.enqueue_many("greet", [*payloads, {"name": 3}])
    assert await nothing_stored(greeter.store)

    answers = await greeter.enqueue_many("greet", payloads, priority=-2, tags=["bulk"])
    assert len({answer.id for answer in answers}) == 3000
    job = await greeter.get(answers[7].id)
    assert (job.priority, job.tags, job.payload) == (-2, ("bulk",), '{"name":"Ada"}')


@dataclass(frozen=True)
class Record:
    """What a handler may take, and JSON is written from."""

    value: object


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        [1.0, float("-inf")],
        Record(float("nan")),
        {"deep": [Record([float("inf")])]},
    ],
)
async def test_numbers_that_json_does_not_know_are_refused(engine: Engine, value: object) -> None:
    with pytest.raises(InvalidJob, match="NaN or infinity"):
        await engine.enqueue("anything", {"value": value})

    assert await nothing_stored(engine.store)


async def test_a_nul_within_a_record_is_refused(engine: Engine) -> None:
    with pytest.raises(InvalidJob, match="NUL"):
        await engine.enqueue("anything", {"value": Record("A\x00")})

    assert await nothing_stored(engine.store)


async def test_an_escaped_nul_in_text_is_no_nul(engine: Engine) -> None:
    await engine.enqueue("anything", {"value": "\\u0000", "none": None})


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ({"cron": "61 * * * *"}, "61"),
        ({"cron": "0 0 30 2 *"}, "never"),
        ({"cron": "0 9 * * *", "zone": "Europe/Berln"}, "Europe/Berlin"),
        ({"cron": "0 9 * * *", "every": 60}, "exactly one"),
        ({}, "exactly one"),
        ({"every": 0.1}, "shortest interval"),
        ({"every": -5}, "every must not be negative"),
        ({"cron": "0 9 * * *", "repeat_until": datetime(2027, 1, 1)}, "no time zone"),  # noqa: DTZ001
        ({"cron": "0 9 * * *", "missed": "never"}, "missed must be"),
        ({"cron": "0 9 * * *", "overlap": "skp"}, "did you mean 'skip'?"),
        ({"cron": "0 9 * * *", "gap": "jump"}, "jump"),
        ({"cron": "0 9 * * *", "unique": "a"}, "the schedule decides"),
        ({"cron": "0 9 * * *", "prioritty": 3}, "did you mean 'priority'?"),
        ({"cron": "0 9 * * *", "tags": ["daily"]}, "take no tags"),
    ],
)
async def test_an_impossible_schedule_is_refused(
    greeter: Engine, schedule: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidJob) as refusal:
        await greeter.schedule("morning", "greet", {"name": "Ada"}, **schedule)  # pyright: ignore[reportArgumentType]

    assert message in str(refusal.value)
    assert await nothing_stored(greeter.store)


async def test_a_task_name_is_taken_once(greeter: Engine) -> None:
    async def other() -> None: ...

    with pytest.raises(InvalidJob, match="declared already"):
        greeter.declare(other, name="greet")


async def test_a_handler_must_take_its_arguments_by_name(engine: Engine) -> None:
    async def tell(*names: str) -> None: ...

    with pytest.raises(InvalidJob, match="given by name"):
        engine.declare(tell)


@pytest.mark.parametrize(
    "address", ["", "mysql://x", "sqlite:/x", "sqlite://", "postgresql:/db", "memory"]
)
def test_an_address_that_names_no_store_is_refused(address: str) -> None:
    with pytest.raises(InvalidJob, match="cannot open a store at"):
        Engine(address)


@pytest.mark.parametrize(
    ("progress", "message"),
    [
        ("x" * 1024 * 1024, "more than 1,048,576: store it elsewhere"),
        ({"at": ["A\x00"]}, "holds a NUL character"),
        ({"share": float("nan")}, "holds NaN or infinity"),
        (Record(float("inf")), "holds NaN or infinity"),
        (object(), "is not JSON"),
        ("lone \ud800 surrogate", "is not JSON"),
    ],
    ids=["large", "nul", "nan", "infinity", "object", "surrogate"],
)
@pytest.mark.parametrize("threaded", [False, True], ids=["async", "thread"])
async def test_progress_is_refused_as_a_payload_is_and_the_last_one_stays(
    engine: Engine, progress: object, message: str, *, threaded: bool
) -> None:
    if threaded:

        @engine.task(name="work", retry=0)
        def work(job: Running) -> None:
            job.report_from_thread({"done": 1})
            job.report_from_thread(progress)
    else:

        @engine.task(name="work", retry=0)
        async def work(job: Running) -> None:
            await job.report({"done": 1})
            await job.report(progress)

    async with working(engine):
        (job,) = await finished(engine, (await engine.enqueue("work")).id)

    note = json.loads(job.errors[-1])
    assert note["kind"] == "InvalidJob"
    assert f"the progress of job {job.id} " in note["message"]
    assert message in note["message"]
    assert json.loads(job.progress or "") == {"done": 1}
