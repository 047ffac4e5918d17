"""Tokens of links that people are sent: sealed, so that servers and logs on the way learn nothing from them.

A token belongs to one purpose: one made for another opens nothing. It works as long as its key is in the keyring.
"""

import base64
import binascii
from dataclasses import dataclass

import msgspec

from cadenza.accounts.seal import CannotOpen, Keyring

_LONGEST = 1_500


@dataclass(frozen=True, slots=True)
class BadToken:
    """It was not made here for this, or its key is gone."""


def make_link_token(keyring: Keyring, purpose: str, *values: str) -> str:
    """Return a token that holds these values and tells nothing."""
    sealed = keyring.seal(msgspec.json.encode(values).decode(), row=purpose)
    return base64.urlsafe_b64encode(sealed.encode()).decode().rstrip("=")


def read_link_token(keyring: Keyring, purpose: str, token: str) -> tuple[str, ...] | BadToken:
    """Read a token; whatever is wrong with it, it holds nothing."""
    if len(token) > _LONGEST or not token.isascii():
        return BadToken()
    try:
        sealed = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        text = keyring.open(sealed.decode(), row=purpose)
    except (CannotOpen, binascii.Error, UnicodeDecodeError):
        return BadToken()
    return msgspec.json.decode(text, type=tuple[str, ...])
