"""The same bare loop on PostgreSQL, but finished rows stay: an update instead of a delete."""

from bench.systems.raw_postgres import RawPostgres


class RawPostgresKept(RawPostgres):
    """Marks what is finished."""

    settle = "UPDATE job SET state = 2, leased_until = NULL WHERE id = ANY($1::bigint[])"


SYSTEM = RawPostgresKept
