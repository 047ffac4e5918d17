"""Sign what is sent, by the Standard Webhooks specification: HMAC-SHA256 over id, time and the exact bytes.

While a secret is being changed, both the new and the old one sign, so that receivers can follow at
their own pace. Limit: symmetric keys only (`v1`), no ed25519.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable
from datetime import datetime

from cadenza.providers.http.redact import Secret

PREFIX = "whsec_"
LENGTHS = range(24, 65)  # bytes of a key


def read_key(secret: Secret) -> bytes | None:
    """Return the key inside `whsec_…`, or None if it is not one or too weak."""
    try:
        key = base64.b64decode(secret.reveal().removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return None
    return key if len(key) in LENGTHS else None


def message_id(key: str) -> str:
    """Make the id of a message from its attempt's key: the same for repeats, and without a dot."""
    digest = hashlib.sha256(key.encode()).digest()
    return "msg_" + base64.b32encode(digest[:20]).decode().lower()


def address_id(url: str) -> str:
    """Name an address without telling it."""
    return "hook_" + hashlib.sha256(url.encode()).hexdigest()[:32]


def signature(key: bytes, message: str, timestamp: int, body: bytes) -> str:
    """Sign one message with one key."""
    content = f"{message}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()


def signed_headers(
    secrets: Iterable[Secret], *, message: str, now: datetime, body: bytes
) -> dict[str, str]:
    """Return the three headers; secrets that cannot be read are left out."""
    timestamp = int(now.timestamp())
    keys = [key for key in map(read_key, secrets) if key is not None]
    return {
        "webhook-id": message,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signature(key, message, timestamp, body) for key in keys),
    }
