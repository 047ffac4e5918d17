"""Sealed values open for their own row with their own key, and for nothing else."""

import base64
import json
import os
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.accounts import seal
from cadenza.accounts.seal import CannotOpen, Keyring, add_key, load_keyring
from cadenza.providers.http.redact import Secret

KEYS = {f"k{n}": Secret(base64.urlsafe_b64encode(bytes([n]) * 32).decode()) for n in (1, 2)}
RING = Keyring(KEYS)
ROW = "account:home-of-ada:mastodon"


@given(st.text())
def test_what_is_sealed_opens_again(text: str) -> None:
    assert RING.open(RING.seal(text, row=ROW), row=ROW) == text


@pytest.mark.parametrize(
    "other",
    [
        "account:home-of-ben:mastodon",
        "account:home-of-ada:bluesky",
        "webhook:home-of-ada:mastodon",
        "",
    ],
)
def test_a_value_that_is_moved_to_another_row_does_not_open(other: str) -> None:
    sealed = RING.seal("canary", row=ROW)
    with pytest.raises(CannotOpen) as refused:
        RING.open(sealed, row=other)
    assert "canary" not in str(refused.value)


def test_no_changed_byte_opens() -> None:
    key_id, _, body = RING.seal("canary", row=ROW).partition(".")
    raw = base64.urlsafe_b64decode(body)
    for place in range(len(raw)):
        changed = raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]
        with pytest.raises(CannotOpen):
            RING.open(f"{key_id}.{base64.urlsafe_b64encode(changed).decode()}", row=ROW)
    with pytest.raises(CannotOpen):
        RING.open(f"k2.{body}", row=ROW)


@pytest.mark.parametrize("body", ["", "A", "AAAA", "%%%", "AAAAAAAAAAAAAAAA", "\N{SNOWMAN}"])
def test_a_text_that_was_cut_or_garbled_does_not_open(body: str) -> None:
    for sealed in (f"k1.{body}", f"k1{body}"):
        with pytest.raises(CannotOpen):
            RING.open(sealed, row=ROW)


def test_the_same_text_is_never_sealed_alike() -> None:
    assert len({RING.seal("canary", row=ROW) for _ in range(50)}) == 50


@pytest.mark.parametrize(
    "text",
    [
        *("", "\n\n", "k1\n", "k1 c2hvcnQ=\n", "k1 not-base64-at-all!\n"),
        f"k1 {'A' * 44} more\n",
        f"k1 {KEYS['k1'].reveal()}\nk1 {KEYS['k2'].reveal()}\n",
    ],
)
def test_nothing_starts_without_a_whole_key(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(ValueError, match=r"keys|32 bytes") as refused:
        load_keyring(path)
    assert "c2hvcnQ" not in str(refused.value)
    assert "not-base64" not in str(refused.value)


def test_of_keys_that_are_made_at_once_none_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was sealed with one that is lost would never open again."""
    make = seal._new_key

    def slowly() -> str:
        time.sleep(0.02)
        return make()

    monkeypatch.setattr(seal, "_new_key", slowly)
    path = tmp_path / "data" / "keys"
    with ThreadPoolExecutor(8) as threads:
        first = list(threads.map(lambda _: load_keyring(path), range(8)))
        sealed = [ring.seal("canary", row=ROW) for ring in first]
        ids = list(threads.map(lambda _: add_key(path), range(8)))
    assert sorted(ids) == [f"k{n}" for n in range(2, 10)]
    assert list(load_keyring(path).keys) == [f"k{n}" for n in range(9, 0, -1)]
    assert {load_keyring(path).open(each, row=ROW) for each in sealed} == {"canary"}
    assert [each.name for each in path.parent.iterdir()] == ["keys"]


def test_a_new_key_is_on_the_disk_before_anything_is_sealed_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut must not leave a database whose credentials no key opens."""
    synced: list[tuple[int, bool]] = []
    sync = os.fsync

    def note(descriptor: int) -> None:
        sync(descriptor)
        synced.append((os.fstat(descriptor).st_ino, path.exists() and len(path.read_text()) > size))

    path, size = tmp_path / "keys", 0
    monkeypatch.setattr(os, "fsync", note)
    for change in (load_keyring, add_key):
        synced.clear()
        change(path)
        assert synced == [(path.stat().st_ino, False), (tmp_path.stat().st_ino, True)]
        size = len(path.read_text())


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "keys"
    load_keyring(path)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(mode)
    with pytest.raises(PermissionError, match="chmod 600"):
        load_keyring(path)


def test_a_secret_shows_itself_to_nobody() -> None:
    secret = Secret("canary-of-a-token")
    shown = [repr(secret), str(secret), f"{secret}", f"{secret!s:>40}", repr([secret]), repr(RING)]
    assert not [each for each in shown if "canary" in each]
    for write in (json.dumps, pickle.dumps):
        with pytest.raises(TypeError):
            write(secret)


def test_a_key_file_is_read_again_when_it_was_changed(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    running = load_keyring(path)
    before = running.seal("secret", row=ROW)
    assert add_key(path) == "k2"
    assert running.open(load_keyring(path).seal("secret", row=ROW), row=ROW) == "secret"
    assert running.seal("secret", row=ROW).startswith("k2.")
    assert running.open(before, row=ROW) == "secret"
    with pytest.raises(CannotOpen):
        running.open(before.replace("k1.", "k9."), row=ROW)


def test_a_key_file_that_became_unfit_takes_nothing_away(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    running = load_keyring(path)
    before = running.seal("secret", row=ROW)
    path.write_text("nonsense\n")
    assert running.open(running.seal("more", row=ROW), row=ROW) == "more"
    path.unlink()
    assert running.open(before, row=ROW) == "secret"
    with pytest.raises(CannotOpen):
        running.open(before.replace("k1.", "k9."), row=ROW)
