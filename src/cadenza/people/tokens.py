"""The port of secret chance: tokens that nobody can guess, and the hashes that we keep of them.

Tokens have 256 bits from the operating system, so a plain SHA-256 is enough to keep them by: there is
nothing to try out. Recovery codes are shorter, are tied to a person, and count as sign-in tries.
"""

import hmac
import secrets
from dataclasses import dataclass
from hashlib import sha256

KEY_MARK = "cad"
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that look alike


@dataclass(frozen=True, slots=True)
class Token:
    """A fresh token: `text` is shown once, `hash` is kept."""

    text: str
    hash: str

    def __repr__(self) -> str:
        return "Token([secret])"


@dataclass(frozen=True, slots=True)
class KeyToken:
    """A fresh API key: the prefix finds its row, the secret's hash proves it."""

    text: str
    prefix: str
    hash: str

    def __repr__(self) -> str:
        return f"KeyToken({self.prefix})"


def hash_token(text: str) -> str:
    """Return what is kept of a token."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def same(one: str, other: str) -> bool:
    """Compare without telling by time where they differ."""
    return hmac.compare_digest(one.encode(), other.encode())


def draw_token() -> Token:
    """Draw a token for a session, a reset, an invitation."""
    text = secrets.token_urlsafe(32)
    return Token(text, hash_token(text))


def draw_key() -> KeyToken:
    """Draw an API key: `cad_<prefix>_<secret>`."""
    prefix = secrets.token_hex(6)
    secret = secrets.token_urlsafe(32)
    return KeyToken(f"{KEY_MARK}_{prefix}_{secret}", prefix, hash_token(secret))


def split_key(text: str) -> tuple[str, str] | None:
    """Return prefix and secret of a key; None: it is none of ours."""
    mark, _, rest = text.partition("_")
    prefix, _, secret = rest.partition("_")
    return (prefix, secret) if mark == KEY_MARK and prefix and secret else None


def draw_recovery_codes(count: int = 10) -> tuple[str, ...]:
    """Draw codes of 50 bits that a person can write down."""
    return tuple(
        "-".join("".join(secrets.choice(_LETTERS) for _ in range(5)) for _ in range(2))
        for _ in range(count)
    )


def hash_recovery_code(person_id: str, code: str) -> str:
    """Return what is kept of a code; spaces, case and dashes do not matter."""
    plain = "".join(letter for letter in code.casefold() if letter.isalnum())
    return hash_token(f"{person_id}:{plain}")


def draw_bytes(count: int) -> bytes:
    """Draw raw bytes, for a shared secret."""
    return secrets.token_bytes(count)
