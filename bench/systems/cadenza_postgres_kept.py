"""Cadenza on PostgreSQL, finished jobs kept for a week."""

from datetime import timedelta

from bench.systems.cadenza_postgres import CadenzaPostgres


class CadenzaPostgresKept(CadenzaPostgres):
    """Keeps what is finished."""

    keep_done = timedelta(days=7)


SYSTEM = CadenzaPostgresKept
