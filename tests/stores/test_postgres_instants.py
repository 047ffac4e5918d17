"""Instants read the quick way are the instants that the driver reads."""

from datetime import UTC, datetime, timedelta, timezone

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.sql.postgres_instants import (
    EARLIEST,
    EPOCH,
    LATEST,
    Instants,
    read_instants_fast,
    write_instant,
)

zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
instants = st.datetimes(
    min_value=datetime(2, 1, 1),  # noqa: DTZ001 - the zone is drawn
    max_value=datetime(9998, 1, 1),  # noqa: DTZ001 - the zone is drawn
    timezones=zones,
)


@given(instants)
def test_what_is_written_is_read_again(instant: datetime) -> None:
    read = Instants().read(write_instant(instant))
    assert read == instant
    assert read.tzinfo is UTC


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1))
def test_one_reader_reads_many_right(counts: list[int]) -> None:
    reader = Instants()
    for count in counts * 2:
        assert reader.read((count,)) == EPOCH + timedelta(microseconds=count)


def test_the_memory_of_a_reader_is_bounded() -> None:
    reader = Instants()
    for count in range(20_000):
        reader.read((count * 1_000_000,))
    assert len(reader._instants) <= 4096


async def test_the_server_and_the_reader_agree(postgres_database: str) -> None:
    plain = await asyncpg.connect(postgres_database)
    quick = await asyncpg.connect(postgres_database)
    await read_instants_fast(quick)
    query = "SELECT at FROM unnest($1::timestamptz[]) AS at"
    given_instants = [
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(1999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(2026, 11, 16, 12, 0, 0, 1, tzinfo=timezone(timedelta(hours=-5))),
    ]
    expected = [row[0] for row in await plain.fetch(query, given_instants)]
    assert [row[0] for row in await quick.fetch(query, given_instants)] == expected
    bounds = await quick.fetchrow("SELECT '-infinity'::timestamptz, 'infinity'::timestamptz")
    assert bounds is not None
    assert tuple(bounds) == (EARLIEST, LATEST)
    await plain.close()
    await quick.close()


def test_a_naive_instant_is_refused() -> None:
    with pytest.raises(TypeError):
        write_instant(datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point
