"""When a token ends, however an answer writes it: text, fractions, nonsense and numbers without end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cadenza.providers.http.outcome import Reply
from cadenza.providers.meta.signin import token_of
from cadenza.providers.read_tokens import LONGEST, read_tokens
from cadenza.providers.reply import HttpSuccess

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CASES: list[tuple[Any, timedelta | None]] = [
    (5184000, timedelta(days=60)),
    ("5184000", timedelta(days=60)),
    (5184000.0, timedelta(days=60)),
    (10**30, LONGEST),
    ("inf", LONGEST),
    *((each, None) for each in (None, "", "soon", "nan", True, 0, -5, [], {})),
]


@pytest.mark.parametrize(("written", "life"), CASES)
def test_the_end_is_read_however_it_is_written(written: Any, life: timedelta | None) -> None:
    got = HttpSuccess(Reply(200, {}, b"", "", 0), {"access_token": "t", "expires_in": written})
    expected = None if life is None else NOW + life
    for read in (read_tokens, token_of):
        tokens = read(got, NOW)
        assert tokens is not None
        assert tokens.expires_at == expected
