"""Lets a test's database refuse every move of a delivery that `TRANSITIONS` does not name."""

from datetime import datetime

from cadenza.deliveries.model import TRANSITIONS
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Tx

_PAIRS = ", ".join(f"('{before}', '{after}')" for before, after in sorted(TRANSITIONS))
_SQLITE = f"""
CREATE TRIGGER moves BEFORE UPDATE OF state ON delivery
WHEN OLD.state <> NEW.state AND (OLD.state, NEW.state) NOT IN (VALUES {_PAIRS})
BEGIN SELECT RAISE(ABORT, 'states.md knows no such move'); END
"""
_POSTGRES = (
    """
    CREATE FUNCTION refuse_move() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'states.md knows no such move'; END $$
    """,
    f"""
    CREATE TRIGGER moves BEFORE UPDATE OF state ON delivery FOR EACH ROW
    WHEN (OLD.state <> NEW.state AND (OLD.state, NEW.state) NOT IN ({_PAIRS}))
    EXECUTE FUNCTION refuse_move()
    """,
)


async def refuse_other_moves(operations: Operations) -> None:
    """Set the trigger; call it once for each database."""

    def set_trigger(tx: Tx, _now: datetime) -> None:
        for statement in _POSTGRES if tx.dialect == "postgresql" else (_SQLITE,):
            tx.run(statement)

    await operations.run(set_trigger)
