"""Keys change without anybody connecting again."""

from pathlib import Path

import pytest

from cadenza.accounts.open import open_account_tokens
from cadenza.accounts.rotate_key import rotate_all, rotate_batch
from cadenza.accounts.seal import CannotOpen, Keyring, add_key, load_keyring
from tests.accounts.conftest import Desk, ada


async def test_after_a_rotation_the_old_key_opens_nothing_and_is_not_needed(
    desk: Desk, tmp_path: Path
) -> None:
    for n in range(5):
        await desk.connect(ada(remote_id=f"r{n}"), id_=f"a{n}")
    add_key(tmp_path / "keys")
    both = load_keyring(tmp_path / "keys")
    newest = Keyring({"k2": both.keys["k2"]})
    with pytest.raises(CannotOpen):
        open_account_tokens(newest, await desk.account("a0"))
    batch = await desk.operations.run(lambda tx, now: rotate_batch(tx, now, ring=both, limit=2))
    assert batch == 2
    assert await rotate_all(desk.operations, both) == 3
    for n in range(5):
        tokens = open_account_tokens(newest, await desk.account(f"a{n}"))
        assert tokens is not None
        assert tokens.access.reveal() == "canary-access"
