"""Checks that an event comes from the program that it names: each provider's own way, on the raw bytes.

Signatures are compared in constant time and are only good for five minutes where they carry a time. Providers that
sign nothing (Postmark, Unipile's first version) send a secret of ours in a header. Limit: Amazon's
certificate has to be fetched; its address is checked here, and the caller fetches it.
"""

import base64
import binascii
import hmac
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import load_der_public_key
from cryptography.x509 import load_pem_x509_certificate

MOST_AGE = timedelta(minutes=5)
SHARED_HEADER = "x-cadenza-secret"
UNIPILE_HEADER = "unipile-auth"
_SNS_HOST = re.compile(r"sns\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?")
_NOTIFICATION = ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type")
_CONFIRMATION = (
    *("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
)


def is_signed(secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> bool:
    """Check a generic event: the headers of Standard Webhooks, `v1` over id, time and body."""
    id_, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not id_ or not _is_recent(at, now):
        return False
    expected = base64.b64encode(
        hmac.new(_key(secret), f"{id_}.{at}.".encode() + body, sha256).digest()
    ).decode()
    given = headers.get("webhook-signature", "").split(" ")
    return any(_same(each, f"v1,{expected}") for each in given)


def is_unipile(secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> bool:
    """Check an event of Unipile: its second version signs, the first repeats our secret in a header."""
    signature = headers.get("unipile-signature")
    if signature is None:
        return _same(headers.get(UNIPILE_HEADER, ""), secret)
    pairs = (each.strip().partition("=") for each in signature.split(","))
    parts = {name: value for name, _, value in pairs}
    at = parts.get("t", "")
    expected = hmac.new(secret.encode(), f"{at}.".encode() + body, sha256).hexdigest()
    return _is_recent(at, now) and _same(parts.get("v0", ""), expected)


def is_shared(secret: str, headers: Mapping[str, str]) -> bool:
    """Check our secret in a header, for providers that sign nothing."""
    return _same(headers.get(SHARED_HEADER, ""), secret)


def is_mailgun(secret: str, signature: Mapping[str, Any], now: datetime) -> bool:
    """Check an event of Mailgun: its signing key over time and token."""
    at, token = str(signature.get("timestamp", "")), str(signature.get("token", ""))
    expected = hmac.new(secret.encode(), f"{at}{token}".encode(), sha256).hexdigest()
    return _is_recent(at, now) and _same(str(signature.get("signature", "")), expected)


def is_sendgrid(secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> bool:
    """Check an event of SendGrid: ECDSA over time and body, by the public key of its settings."""
    at = headers.get("x-twilio-email-event-webhook-timestamp", "")
    given = headers.get("x-twilio-email-event-webhook-signature", "")
    if not _is_recent(at, now):
        return False
    try:
        public = load_der_public_key(base64.b64decode(secret, validate=True))
        signature = base64.b64decode(given, validate=True)
    except (binascii.Error, ValueError):
        return False
    if not isinstance(public, ec.EllipticCurvePublicKey):
        return False
    try:
        public.verify(signature, at.encode() + body, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


def is_sendgrid_key(text: str) -> bool:
    """Say whether this is a public key as SendGrid shows it."""
    try:
        public = load_der_public_key(base64.b64decode(text.strip(), validate=True))
    except (binascii.Error, ValueError):
        return False
    return isinstance(public, ec.EllipticCurvePublicKey)


def is_amazon_url(url: object, *, certificate: bool = False) -> bool:
    """Say whether an address in an event is Amazon's own: others would let anybody sign or be called."""
    try:
        parts = urlsplit(str(url))
        port = parts.port
    except ValueError:
        return False
    fits = parts.scheme == "https" and port in (None, 443) and not parts.username
    named = _SNS_HOST.fullmatch(parts.hostname or "") is not None
    return fits and named and (not certificate or parts.path.endswith(".pem"))


def is_sns(message: Mapping[str, Any], certificate: bytes) -> bool:
    """Check an event of Amazon SNS by the certificate that it names."""
    names = _NOTIFICATION if message.get("Type") == "Notification" else _CONFIRMATION
    text = "".join(f"{name}\n{message[name]}\n" for name in names if message.get(name) is not None)
    digest = hashes.SHA256() if str(message.get("SignatureVersion")) == "2" else hashes.SHA1()  # noqa: S303 - theirs
    try:
        public = load_pem_x509_certificate(certificate).public_key()
        signature = base64.b64decode(str(message.get("Signature", "")), validate=True)
        if not isinstance(public, rsa.RSAPublicKey):
            return False
        public.verify(signature, text.encode(), padding.PKCS1v15(), digest)
    except (InvalidSignature, ValueError):
        return False
    return True


def _same(given: str, expected: str) -> bool:
    return bool(given) and hmac.compare_digest(given.encode(), expected.encode())


def _is_recent(at: str, now: datetime) -> bool:
    """Seconds since 1970; SendGrid and Mailgun write them as text."""
    if not at.isdecimal() or len(at) > 11:
        return False
    return abs(now.timestamp() - int(at)) <= MOST_AGE.total_seconds()


def _key(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        return secret.encode()
