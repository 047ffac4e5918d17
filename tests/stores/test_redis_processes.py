"""Several processes on one server: each job to one worker, and a dead one's jobs come back."""

import asyncio
import subprocess
import sys
import textwrap
from datetime import timedelta

from cadenza.engine.job import NewJob, State
from cadenza.engine.stores.redis import RedisStore
from tests.servers.valkey import PrivateValkey

LEASE = timedelta(seconds=30)
HEAD = """
import asyncio, os, signal, sys
from datetime import timedelta
from cadenza.engine.outcomes import Settlement
from cadenza.engine.stores.redis import RedisStore
LEASE = timedelta(seconds=30)
store = RedisStore(sys.argv[1], prefix=sys.argv[2])
"""


def start(program: str, url: str, prefix: str) -> subprocess.Popen[str]:
    text = HEAD + textwrap.dedent(program)
    return subprocess.Popen(
        [sys.executable, "-c", text, url, prefix], stdout=subprocess.PIPE, text=True
    )


async def test_three_processes_hand_each_job_out_once(valkey: PrivateValkey) -> None:
    store = RedisStore(valkey.url, prefix="three")
    await store.open()
    answers = await store.insert([NewJob(task="greet") for _ in range(2000)])
    program = """
        async def main():
            await store.open()
            while (batch := await store.claim("default", limit=23, worker="ada", lease=LEASE)).jobs:
                print(*(job.id for job in batch.jobs), sep="\\n")
                settlements = [Settlement(job.id, batch.lease) for job in batch.jobs]
                assert await store.settle(settlements, closed=[batch.lease]) == []
            await store.close()

        asyncio.run(main())
    """
    children = [start(program, valkey.url, "three") for _ in range(3)]
    handed = [int(line) for child in children for line in child.communicate(timeout=60)[0].split()]

    assert sorted(handed) == [answer.id for answer in answers]
    assert [tally.state for tally in await store.tally()] == [State.DONE]
    await store.close()


async def test_a_killed_process_loses_its_jobs_to_the_next(valkey: PrivateValkey) -> None:
    store = RedisStore(valkey.url, prefix="killed")
    await store.open()
    answers = await store.insert([NewJob(task="greet") for _ in range(5)])
    program = """
        async def main():
            await store.open()
            await store.claim("default", limit=3, worker="ada", lease=timedelta(milliseconds=1))
            os.kill(os.getpid(), signal.SIGKILL)

        asyncio.run(main())
    """
    child = start(program, valkey.url, "killed")
    child.communicate(timeout=60)
    assert child.returncode == -9
    await asyncio.sleep(0.01)

    rescued = await store.rescue(crash_limit=5)

    assert sorted(rescued.returned) == [answer.id for answer in answers[:3]]
    batch = await store.claim("default", limit=9, worker="ben", lease=LEASE)
    assert {job.id: job.crashes for job in batch.jobs} == {
        answer.id: 1 if number < 3 else 0 for number, answer in enumerate(answers)
    }
    assert not batch.crashed, "one crash does not set a job apart"
    await store.close()


async def test_two_prefixes_on_one_server_do_not_meet(valkey: PrivateValkey) -> None:
    stores = [RedisStore(f"{valkey.url}?prefix={name}") for name in ("ada", "ben")]
    for store in stores:
        await store.open()
    await stores[0].insert([NewJob(task="greet")])
    assert await stores[1].tally() == []
    for store in stores:
        await store.close()
