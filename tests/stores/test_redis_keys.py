"""Keys of rules are a queue's own, which the traits say."""

from datetime import timedelta

import pytest

from cadenza.engine.job import Debounce, NewJob, Pace, Rule, Throttle, Unique
from cadenza.engine.stores.redis import RedisStore
from tests.servers.valkey import PrivateValkey

HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    "rule",
    [Unique("ada"), Throttle("ada", HOUR), Debounce("ada", HOUR), Pace("ada", HOUR)],
    ids=lambda rule: type(rule).__name__,
)
async def test_a_key_holds_in_its_queue_alone(valkey: PrivateValkey, rule: Rule) -> None:
    store = RedisStore(valkey.url, prefix=f"keys-{type(rule).__name__}")
    await store.open()
    assert not store.traits.keys_span_queues
    queues = ("mail", "posts")
    answers = await store.insert([NewJob(task="greet", queue=queue, rule=rule) for queue in queues])
    assert [answer.outcome for answer in answers] == ["inserted", "inserted"]
    assert answers[0].run_at == answers[1].run_at
    await store.close()


async def test_a_queue_may_have_any_name(valkey: PrivateValkey) -> None:
    store = RedisStore(valkey.url, prefix="names")
    await store.open()
    names = ["a}b", "{", "über/uns", "a b", "%7D"]
    answers = await store.insert([NewJob(task="greet", queue=name) for name in names])
    assert [job.queue for job in await store.get([answer.id for answer in answers])] == names
    await store.close()
