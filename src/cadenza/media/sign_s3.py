"""AWS Signature Version 4, as S3 and its kin ask for it: pure, the instant comes in.

`sign` gives the headers of a request whose payload's hash is known; `presign` an address that anyone
may fetch for a while. The worked examples of Amazon's documentation are the tests.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote, urlsplit

from cadenza.core.secret import Secret

EMPTY = hashlib.sha256(b"").hexdigest()
_UNSIGNED = "UNSIGNED-PAYLOAD"
_METHOD = "AWS4-HMAC-SHA256"
_PORTS = {"http": 80, "https": 443}
LONGEST = timedelta(days=7)  # that S3 lets an address live


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who asks, and in which region."""

    access_key: str
    secret_key: Secret
    region: str


def sign(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    payload: str,
    credentials: Credentials,
    now: datetime,
) -> dict[str, str]:
    """Return the headers with the signature added; `payload` is the body's SHA-256 in hex."""
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    signed = {name.lower(): " ".join(value.split()) for name, value in headers.items()}
    signed |= {"host": _host(url), "x-amz-content-sha256": payload, "x-amz-date": stamp}
    names = ";".join(sorted(signed))
    lines = "".join(f"{name}:{signed[name]}\n" for name in sorted(signed))
    parts = urlsplit(url)
    canonical = "\n".join((method, _path(url), parts.query, lines, names, payload))
    scope = _scope(credentials, stamp)
    signature = _signature(credentials, stamp, scope, canonical)
    authorization = (
        f"{_METHOD} Credential={credentials.access_key}/{scope},"
        f"SignedHeaders={names},Signature={signature}"
    )
    del signed["host"]  # the client writes it
    return {**signed, "authorization": authorization}


def presign(url: str, *, credentials: Credentials, now: datetime, lasts: timedelta) -> str:
    """Return an address that fetches the object until its time is up."""
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    scope = _scope(credentials, stamp)
    requested = {
        "X-Amz-Algorithm": _METHOD,
        "X-Amz-Credential": f"{credentials.access_key}/{scope}",
        "X-Amz-Date": stamp,
        "X-Amz-Expires": str(int(min(lasts, LONGEST).total_seconds())),
        "X-Amz-SignedHeaders": "host",
    }
    query = "&".join(
        f"{name}={quote(value, safe='-_.~')}" for name, value in sorted(requested.items())
    )
    canonical = "\n".join(("GET", _path(url), query, f"host:{_host(url)}\n", "host", _UNSIGNED))
    signature = _signature(credentials, stamp, scope, canonical)
    return f"{url}?{query}&X-Amz-Signature={signature}"


def _host(url: str) -> str:
    """Return the host as it is sent: without a port that goes without saying."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    usual = parts.port is None or parts.port == _PORTS[parts.scheme]
    return host if usual else f"{host}:{parts.port}"


def _path(url: str) -> str:
    return urlsplit(url).path or "/"  # our names hold nothing that would have to be encoded


def _scope(credentials: Credentials, stamp: str) -> str:
    return f"{stamp[:8]}/{credentials.region}/s3/aws4_request"


def _signature(credentials: Credentials, stamp: str, scope: str, canonical: str) -> str:
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    text = f"{_METHOD}\n{stamp}\n{scope}\n{hashed}"
    key = f"AWS4{credentials.secret_key.reveal()}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), hashlib.sha256)
    return hmac.digest(key, text.encode(), hashlib.sha256).hex()
