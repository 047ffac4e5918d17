"""Cadenza on Valkey, finished jobs kept for a week."""

from datetime import timedelta

from bench.systems.cadenza_redis import CadenzaRedis


class CadenzaRedisKept(CadenzaRedis):
    """Keeps what is finished."""

    keep_done = timedelta(days=7)


SYSTEM = CadenzaRedisKept
