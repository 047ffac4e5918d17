"""Credentials at rest: sealed with a key that is not in the database.

AES-256-GCM, bound to the row by its associated data: a sealed value that is moved to another account
does not open. The key's id stands in front, so keys can be rotated while both are at hand. The key file
is made on first use with mode 0600; losing it means connecting every account again. A running process reads
a file that was changed again: before it seals, and when something names a key that it does not know.
"""

import base64
import contextlib
import fcntl
import logging
import os
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens

log = logging.getLogger("cadenza.accounts")
NONCE = 12
KEY_BYTES = 32


class CannotOpen(Exception):
    """The sealed value was made with another key, for another row, or was changed."""


@dataclass(frozen=True, slots=True)
class Keyring:
    """The keys by id; the first is used for sealing, all of them for opening."""

    keys: Mapping[str, Secret]  # base64

    def seal(self, text: str, *, row: str) -> str:
        """Seal a text for one row."""
        key_id, key = next(iter(self.keys.items()))
        nonce = os.urandom(NONCE)  # noqa: TID251 - a nonce is the seal's own affair
        sealed = AESGCM(_raw(key)).encrypt(nonce, text.encode(), f"{key_id}/{row}".encode())
        return f"{key_id}.{base64.urlsafe_b64encode(nonce + sealed).decode()}"

    def open(self, sealed: str, *, row: str) -> str:
        """Open what was sealed for this row."""
        key_id, _, body = sealed.partition(".")
        if key_id not in self.keys:
            raise CannotOpen(f"no key {key_id!r} is at hand to open the credentials of {row}")
        try:
            raw = base64.urlsafe_b64decode(body)
            plain = AESGCM(_raw(self.keys[key_id])).decrypt(
                raw[:NONCE], raw[NONCE:], f"{key_id}/{row}".encode()
            )
        except (InvalidTag, ValueError) as error:  # of a cut text: no base64, or no nonce in it
            raise CannotOpen(f"the sealed credentials of {row} do not belong there") from error
        return plain.decode()

    def needs_resealing(self, sealed: str) -> bool:
        """Say whether a value was sealed with an older key."""
        return sealed.partition(".")[0] != next(iter(self.keys))


class KeyFile(Mapping[str, Secret]):
    """The keys of a file as it is now. One that became unfit is told once, and the keys of before stay."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = _state_of(path)
        self._keys = _read_keys(path)

    def __getitem__(self, key_id: str) -> Secret:
        if key_id not in self._keys:
            self._look()
        return self._keys[key_id]

    def __iter__(self) -> Iterator[str]:
        self._look()
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def _look(self) -> None:
        """Read the file if it is another than the last time: a look costs one question to the disk."""
        try:
            seen = _state_of(self._path)
            if seen != self._seen:
                self._seen = seen
                self._keys = _read_keys(self._path)
        except (OSError, ValueError) as error:
            log.warning("the key file cannot be read again: %s", error)


def load_keyring(path: Path) -> Keyring:
    """Open the key file, newest key first, or make one; refuse a file that others may read."""
    if not path.exists():
        with _alone_at(path):
            if not path.exists():  # two may start at once
                _write_keys(path, [f"k1 {_new_key()}"])
    return Keyring(KeyFile(path))


def _state_of(path: Path) -> tuple[int, ...]:
    """Tell one state of a file from another."""
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _read_keys(path: Path) -> dict[str, Secret]:
    if path.stat().st_mode & 0o077:
        raise PermissionError(f"{path} must be readable by its owner only: chmod 600 {path}")
    lines = [line.split() for line in path.read_text().splitlines() if line.strip()]
    if not lines or any(len(words) != 2 for words in lines):
        raise ValueError(f"{path} must hold keys, one a line: an id, a space, the key in base64")
    keys = {key_id: Secret(key) for key_id, key in lines}
    if len(keys) < len(lines):
        raise ValueError(
            f"{path} holds two keys of one id: keep the one that sealed this installation"
        )
    for key_id, key in keys.items():
        if not _is_whole(key):
            raise ValueError(f"key {key_id!r} in {path} has not {KEY_BYTES} bytes of base64")
    return keys


def add_key(path: Path) -> str:
    """Put a new key in front; what was sealed before still opens. Returns the new key's id."""
    with _alone_at(path):
        lines = [line for line in path.read_text().splitlines() if line.strip()]
        # Never an id that is in use: old keys may have been taken out of the file.
        used = [int(id_[1:]) for id_ in (line.split()[0] for line in lines) if id_[1:].isdecimal()]
        key_id = f"k{max(used, default=len(lines)) + 1}"
        _write_keys(path, [f"{key_id} {_new_key()}", *lines])
    return key_id


def seal_tokens(ring: Keyring, tokens: Tokens, *, row: str) -> str:
    """Seal an account's tokens."""
    said = {
        "access": tokens.access.reveal(),
        "refresh": tokens.refresh.reveal() if tokens.refresh else None,
        "expires_at": tokens.expires_at,
        "refreshed_at": tokens.refreshed_at,
        "extra": {name: secret.reveal() for name, secret in tokens.extra.items()},
    }
    return ring.seal(msgspec.json.encode(said).decode(), row=row)


def open_tokens(ring: Keyring, sealed: str, *, row: str) -> Tokens:
    """Open an account's tokens."""
    said = msgspec.json.decode(ring.open(sealed, row=row), type=_TokenData)
    return Tokens(
        access=Secret(said.access),
        refresh=Secret(said.refresh) if said.refresh else None,
        expires_at=said.expires_at,
        refreshed_at=said.refreshed_at,
        extra={name: Secret(value) for name, value in said.extra.items()},
    )


class _TokenData(msgspec.Struct):
    access: str
    refresh: str | None
    expires_at: datetime | None
    refreshed_at: datetime | None
    extra: dict[str, str]


def _is_whole(key: Secret) -> bool:
    try:
        return len(_raw(key)) == KEY_BYTES
    except ValueError:
        return False


def _raw(key: Secret) -> bytes:
    return base64.urlsafe_b64decode(key.reveal())


def _new_key() -> str:
    return base64.urlsafe_b64encode(os.urandom(KEY_BYTES)).decode()  # noqa: TID251 - a key needs the system's best


@contextlib.contextmanager
def _alone_at(path: Path) -> Generator[None]:
    """Let nobody else change the file meanwhile: of two new keys the later would take the other away."""
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
        os.fsync(folder)
    finally:
        os.close(folder)


def _write_keys(path: Path, lines: list[str]) -> None:
    """Write beside and move into place, readable by the owner from the first byte.

    On the disk before it is used: a database that outlasts a power cut needs keys that do.
    """
    beside = path.with_name(path.name + ".new")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
