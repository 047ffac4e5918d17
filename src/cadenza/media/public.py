"""Addresses for networks that fetch media themselves: signed, expiring, and telling nothing.

`/media/public/<token>/<name>`: the token names the file and the end of its time and carries an HMAC over
both, by a key drawn from the keyring. It opens one file for a while, to anyone who holds it; it cannot
be called back before its end but by taking the key out of the ring. The name behind it is for show.
"""

import base64
import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from cadenza.accounts.seal import Keyring
from cadenza.media.storage import BadName, checked

PATH = "/media/public"
LASTS = timedelta(hours=6)  # networks fetch within minutes; a film may be tried again for hours
_PURPOSE = b"cadenza media public address 1"
_MAC = 16
_LONGEST = 600


@dataclass(frozen=True, slots=True)
class PublicFile:
    """The token is good: this file may be given out until then."""

    file: str
    mime: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class NotPublic:
    """Nothing is given out. `expired`: the token was good once (answer 410), else it never was (404)."""

    expired: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Signer:
    """Signs with the first key and opens with all of them, so that keys can be rotated."""

    keys: Sequence[bytes]

    @classmethod
    def from_keyring(cls, ring: Keyring) -> "Signer":
        """Draw keys of their own from the keyring's: what signs addresses cannot open credentials."""
        return cls(_DerivedKeys(ring))

    def mac(self, body: bytes) -> bytes:
        """Sign with the newest key."""
        return _mac(self.keys[0], body)

    def made(self, body: bytes, mac: bytes) -> bool:
        """Say whether one of the keys signed this; the time taken does not tell how near a guess is."""
        return any(hmac.compare_digest(_mac(key, body), mac) for key in self.keys)


class _DerivedKeys(Sequence[bytes]):
    """The keys drawn from those that are in the keyring now."""

    def __init__(self, ring: Keyring) -> None:
        self._ring = ring

    def __len__(self) -> int:
        return len(self._ring.keys)

    def __getitem__(self, place: Any) -> Any:
        keys = [key.reveal() for key in self._ring.keys.values()]
        if isinstance(place, slice):
            return [_draw(key) for key in keys[place]]
        return _draw(keys[place])


def sign_public_url(
    signer: Signer, base_url: str, *, file: str, mime: str, expires_at: datetime, name: str = ""
) -> str:
    """Return an address under `base_url` that opens the file until then."""
    body = f"{int(expires_at.timestamp())}\n{mime}\n{checked(file)}".encode()
    token = f"{_text(body)}.{_text(signer.mac(body))}"
    shown = quote(name or f"media.{file.rpartition('.')[2]}", safe="")
    return f"{base_url.rstrip('/')}{PATH}/{token}/{shown}"


def open_public(signer: Signer, token: str, *, now: datetime) -> PublicFile | NotPublic:
    """Read a token; whatever is wrong with it, it opens nothing."""
    said, dot, mac = token.partition(".")
    if not dot or len(token) > _LONGEST or not token.isascii():
        return NotPublic()
    try:
        body, signed = _bytes(said), _bytes(mac)
    except ValueError:
        return NotPublic()
    if not signer.made(body, signed):
        return NotPublic()
    expires, mime, file = body.decode().split("\n")
    expires_at = datetime.fromtimestamp(int(expires), UTC)
    if now >= expires_at:
        return NotPublic(expired=True)
    try:
        return PublicFile(checked(file), mime, expires_at)
    except BadName:
        return NotPublic()


def _draw(key: str) -> bytes:
    return hmac.digest(base64.urlsafe_b64decode(key), _PURPOSE, hashlib.sha256)


def _mac(key: bytes, body: bytes) -> bytes:
    return hmac.digest(key, body, hashlib.sha256)[:_MAC]


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    """Read base64 in its one spelling only, so that a token cannot be written in two ways."""
    data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if _text(data) != text:
        raise ValueError("not the one spelling")
    return data
