"""Sign a mail with DKIM (RFC 6376), for servers that do not sign themselves.

Relaxed in headers and body, over the exact bytes that are sent. Both unsubscribe headers are signed, as one-click
unsubscribing asks for (RFC 8058), and From is named twice, so that nobody can add a second one. `cryptography` signs
about twenty times as many mails a second as a signer in Python alone. Limit: the body's length is never limited (`l=`).
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from cadenza.core.secret import Secret

SIGNED = (
    "from", "to", "subject", "date", "message-id", "reply-to", "mime-version", "content-type",
    "content-transfer-encoding", "in-reply-to", "references", "list-id", "list-unsubscribe",
    "list-unsubscribe-post", "feedback-id",
)  # fmt: skip
_SPACES = re.compile(rb"[ \t]+")
_END_OF_LINE = re.compile(rb"[ \t]+(?=\r\n)")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?", re.IGNORECASE)


class UnusableKey(ValueError):
    """The key cannot sign; the message says why."""


@dataclass(frozen=True, slots=True)
class DkimKey:
    """Who signs: the key whose public half is at `selector._domainkey.domain`."""

    domain: str
    selector: str
    private: Secret  # PEM


def check_key(key: DkimKey) -> None:
    """Raise UnusableKey with what to do about it, or return."""
    if not _LABEL.fullmatch(key.domain) or not _LABEL.fullmatch(key.selector):
        raise UnusableKey(
            "The signing domain and the selector are names such as example.com and s1."
        )
    _load(key.private.reveal())


def sign_dkim(mail: bytes, key: DkimKey, *, at: int) -> bytes:
    """Return the mail with its signature in front; lines end as on the wire."""
    head, _, body = mail.partition(b"\r\n\r\n")
    private = _load(key.private.reveal())
    algorithm = "rsa-sha256" if isinstance(private, RSAPrivateKey) else "ed25519-sha256"
    headers = _headers(head)
    chosen = [(name, line) for wanted in SIGNED for name, line in headers if name == wanted]
    names = ":".join(["from", *(name for name, _ in chosen)])
    body_hash = base64.b64encode(hashlib.sha256(_relax_body(body)).digest()).decode()
    fields = (
        f"v=1; a={algorithm}; c=relaxed/relaxed; d={key.domain}; s={key.selector}; t={at};\r\n"
        f" h={_fold(names, ':')};\r\n bh={body_hash};\r\n b="
    )
    unsigned = f"DKIM-Signature: {fields}".encode()
    covered = b"".join(_relax_header(line) + b"\r\n" for _, line in chosen)
    signature = _sign(private, covered + _relax_header(unsigned))
    return unsigned + _wrap(base64.b64encode(signature)) + b"\r\n" + mail


def _sign(private: RSAPrivateKey | Ed25519PrivateKey, covered: bytes) -> bytes:
    if isinstance(private, RSAPrivateKey):
        return private.sign(covered, PKCS1v15(), SHA256())
    return private.sign(hashlib.sha256(covered).digest())  # RFC 8463 signs the hash


@lru_cache(maxsize=64)
def _load(pem: str) -> RSAPrivateKey | Ed25519PrivateKey:
    try:
        loaded = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UnusableKey(
            "The signing key must be an unencrypted private key in PEM form."
        ) from error
    if not isinstance(loaded, RSAPrivateKey | Ed25519PrivateKey):
        raise UnusableKey("DKIM signs with an RSA or an Ed25519 key.")
    return loaded


def _headers(head: bytes) -> list[tuple[str, bytes]]:
    """Return each header's lower-case name and its whole line, from the bottom up, as verifiers count."""
    lines = re.split(rb"\r\n(?![ \t])", head)
    named = [
        (line.partition(b":")[0].strip().lower().decode("ascii", "replace"), line) for line in lines
    ]
    return named[::-1]


def _relax_header(line: bytes) -> bytes:
    name, _, value = line.partition(b":")
    return name.strip().lower() + b":" + _SPACES.sub(b" ", value.replace(b"\r\n", b"")).strip()


def _relax_body(body: bytes) -> bytes:
    lines = _SPACES.sub(b" ", _END_OF_LINE.sub(b"", body)).rstrip(b"\r\n \t")
    return lines + b"\r\n" if lines else b""


def _fold(text: str, at: str) -> str:
    """Break a long list into lines, as a header may be."""
    lines: list[str] = [""]
    for part in text.split(at):
        grown = f"{lines[-1]}{at if lines[-1] else ''}{part}"
        if len(grown) > 70 and lines[-1]:
            lines[-1] += at
            lines.append(part)
        else:
            lines[-1] = grown
    return "\r\n ".join(lines)


def _wrap(encoded: bytes, width: int = 72) -> bytes:
    rows: Sequence[bytes] = [encoded[n : n + width] for n in range(0, len(encoded), width)]
    return b"\r\n ".join(rows)
