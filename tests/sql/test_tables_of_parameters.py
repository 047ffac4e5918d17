"""Many rows in one statement, the same text on both databases."""

from datetime import UTC, datetime, timedelta

import pytest

from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Tx
from tests.sql.test_operate import counter, operations

__all__ = ["counter", "operations"]

NOON = datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)
INSERT = """
    INSERT INTO counter (name, count, moved_at, open)
    SELECT name, count, moved_at, open
    FROM TABLE(:new) AS new (name text, count bigint, moved_at timestamptz, open boolean) WHERE true
    ON CONFLICT (name) DO NOTHING
"""


def rows(*names: str) -> list[dict[str, object]]:
    return [
        {"name": name, "count": n, "moved_at": NOON + timedelta(hours=n), "open": n == 1}
        for n, name in enumerate(names)
    ]


async def test_many_rows_are_inserted_at_once_and_keep_their_types(counter: Operations) -> None:
    await counter.run(lambda tx, _: tx.run(INSERT, new=rows("ben", "cy")))
    found = await counter.read(
        lambda tx, _: tx.all("SELECT * FROM counter WHERE name <> 'ada' ORDER BY name")
    )
    assert found == [
        {"name": "ben", "count": 0, "moved_at": NOON, "open": False},
        {"name": "cy", "count": 1, "moved_at": NOON + timedelta(hours=1), "open": True},
    ]


async def test_the_count_is_of_rows_that_were_really_added(counter: Operations) -> None:
    assert await counter.run(lambda tx, _: tx.run(INSERT, new=rows("ada", "ben"))) == 1


async def test_a_column_of_nothing_but_nulls_has_its_type(counter: Operations) -> None:
    empty = [{"name": "cy", "count": 5, "moved_at": None, "open": None}]
    await counter.run(lambda tx, _: tx.run(INSERT, new=empty))
    seen = await counter.read(lambda tx, _: tx.one("SELECT * FROM counter WHERE name = 'cy'"))
    assert seen == {"name": "cy", "count": 5, "moved_at": None, "open": None}


async def test_an_update_says_which_rows_it_won(counter: Operations) -> None:
    def change(tx: Tx, _now: datetime) -> list[object]:
        tx.run(INSERT, new=rows("ben", "cy"))
        won = tx.all(
            """
            UPDATE counter SET count = counter.count + new.more
            FROM TABLE(:new) AS new (name text, expected bigint, more bigint)
            WHERE counter.name = new.name AND counter.count = new.expected
            RETURNING counter.name, counter.count
            """,
            new=[("ben", 0, 7), ("cy", 99, 7), ("nobody", 0, 7)],
        )
        return [(row["name"], row["count"]) for row in won]

    assert await counter.run(change) == [("ben", 7)]


async def test_rows_are_found_by_many_keys_beside_other_parameters(counter: Operations) -> None:
    def look(tx: Tx, _now: datetime) -> set[str]:
        tx.run(INSERT, new=rows("ben", "cy", "dot"))
        found = tx.all(
            """
            SELECT counter.name FROM TABLE(:requested) AS asked (name text)
            JOIN counter ON counter.name = asked.name
            WHERE counter.count >= :least AND counter.name IN (SELECT name FROM TABLE(:requested) AS again (name text))
            """,
            requested=[{"name": name} for name in ("ben", "cy", "dot", "nobody")],
            least=1,
        )
        return {row["name"] for row in found}

    assert await counter.run(look) == {"cy", "dot"}


async def test_no_rows_are_no_trouble(counter: Operations) -> None:
    assert await counter.run(lambda tx, _: tx.run(INSERT, new=[])) == 0


@pytest.mark.parametrize("text", ["it's", "[1, 2]", "7", "", "naïve — ☃", 'say "no"'])
async def test_text_comes_back_to_the_letter(counter: Operations, text: str) -> None:
    def there_and_back(tx: Tx, _now: datetime) -> object:
        return tx.value("SELECT word FROM TABLE(:words) AS words (word text)", words=[(text,)])

    assert await counter.read(there_and_back) == text


async def test_a_naive_instant_is_refused_as_everywhere(counter: Operations) -> None:
    naive = [{"name": "cy", "count": 1, "moved_at": NOON.replace(tzinfo=None), "open": None}]
    if (await counter.read(lambda tx, _: tx.dialect)) == "sqlite":
        with pytest.raises(ValueError, match="no time zone"):
            await counter.run(lambda tx, _: tx.run(INSERT, new=naive))


async def test_rows_are_looked_up_by_key_and_the_whole_table_is_not_gone_through(
    counter: Operations,
) -> None:
    def plan(tx: Tx, _now: datetime) -> str:
        if tx.dialect != "sqlite":
            return "SEARCH counter"
        steps = tx.all(
            """
            EXPLAIN QUERY PLAN UPDATE counter SET count = new.more
            FROM TABLE(:new) AS new (name text, more bigint)
            WHERE counter.name = new.name AND counter.open
            """,
            new=[("ada", 1)],
        )
        return "\n".join(step["detail"] for step in steps)

    assert "SEARCH counter" in await counter.read(plan)
