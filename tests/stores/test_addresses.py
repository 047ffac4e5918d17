"""An address that cannot be used is refused with what to write, and its password is in no text."""

import traceback

import pytest

from cadenza.engine import Engine
from cadenza.engine.adopt.fetch import from_mongodb, from_pgboss
from cadenza.engine.errors import EngineError

WORDS = ("s3", "cret")  # both halves: where a / or ? was not escaped, a driver sees them apart
TORN = ("s3/cret", "s3?cret", "s3#cret")


def told(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error)) + "".join(
        str(cause) for cause in (error.__cause__,) if cause is not None
    )


async def refusal(address: str) -> str:
    with pytest.raises(EngineError) as refused:
        async with Engine(address):
            pass
    return told(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        "postgre://ada:s3cret@localhost/jobs",
        "redis://ada:s3cret@localhost:none/0",
        "redis://ada:s3cret@localhost:1/0",
        "redis://localhost:1/0?password=s3cret",
        *(f"redis://ada:{word}@localhost:1/0" for word in TORN),
        *(f"mongodb://ada:{word}@localhost:1/jobs" for word in TORN),
        *(f"postgresql://ada:{word}@localhost:1/jobs" for word in TORN),
    ],
)
async def test_a_password_is_in_no_refusal(address: str) -> None:
    said = await refusal(address)
    assert not any(word in said for word in WORDS), said


@pytest.mark.parametrize("scheme", ["redis", "mongodb", "postgresql"])
async def test_an_address_that_cannot_be_read_says_how_to_write_it(scheme: str) -> None:
    assert "%2F" in await refusal(f"{scheme}://ada:s3/cret@localhost:1/jobs")


@pytest.mark.parametrize(
    "address",
    [
        "redis://localhost:6379/0?client_name=a@b",
        "redis://[::1]:6379/0",
        "redis://ada:s3cret@localhost:6379/0",
        "mongodb://one:1,two:2/jobs?appName=a@b",
        "mongodb://ada:s3cret@one:1,two:2/jobs?replicaSet=three",
    ],
)
def test_an_address_that_is_fine_is_taken(address: str) -> None:
    assert Engine(address).store.traits.many_processes


@pytest.mark.parametrize("word", ["s3cret", "s3/cret"])
async def test_an_import_keeps_the_password_to_itself_too(word: str) -> None:
    with pytest.raises(EngineError) as mongodb:
        _ = [
            one
            async for one in from_mongodb(
                f"mongodb://ada:{word}@localhost:1/x?serverSelectionTimeoutMS=1", "jobs"
            )
        ]
    with pytest.raises(EngineError) as pgboss:
        await from_pgboss(f"postgresql://ada:{word}@localhost:1/x")
    for refused in (mongodb, pgboss):
        assert not any(part in told(refused.value) for part in WORDS), refused.value
