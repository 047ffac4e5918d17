"""Tells a program: one signed POST, with the headers of Standard Webhooks.

`webhook-id` is the same for every repetition, so a receiver can drop what it has; the signature covers
id, timestamp and body. Several secrets, parted by spaces, sign side by side while one is being changed.
"""

import base64
import hmac
from datetime import datetime
from hashlib import sha256

import msgspec

from cadenza.notices.model import Delivered, Ending, GaveUp, NoticeBatch, RetryLater
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.outcome import NotSent, Reason, Reply
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Request, Timeouts
from cadenza.providers.waits import retry_after

PREFIX = "whsec_"
TIMES = Timeouts(connect=10, read=15, total=20)


def sign(secrets: Secret, *, id_: str, at: datetime, body: bytes) -> str:
    """Return the signature header for a message, one signature a secret."""
    signed = f"{id_}.{int(at.timestamp())}.".encode() + body
    return " ".join(
        "v1," + base64.b64encode(hmac.new(_raw(each), signed, sha256).digest()).decode()
        for each in secrets.reveal().split()
    )


def write_body(batch: NoticeBatch) -> bytes:
    """Write what happened as JSON; the same bytes each time."""
    row = batch.news[0]
    said = {
        "type": row["kind"],
        "timestamp": row["created_at"].isoformat(),
        "data": {
            "workspace_id": row["workspace_id"],
            "subject_id": row["subject_id"],
            "post_id": row["post_id"],
            "account_id": row["account_id"],
            "channel": row["channel"],
            **msgspec.json.decode(row["body"]),
        },
    }
    return msgspec.json.encode(said)


async def call_webhook(
    http: OutboundClient, batch: NoticeBatch, *, url: Secret, secrets: Secret, now: datetime
) -> Ending:
    """Send it and say what came of it; anything but a 2xx is tried again, a 410 ends the webhook."""
    body = write_body(batch)
    id_ = "msg_" + sha256(batch.key.encode()).hexdigest()[:32]
    headers = {
        "content-type": "application/json",
        "webhook-id": id_,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": sign(secrets, id_=id_, at=now, body=body),
    }
    # A receiver knows a repetition by its id, so nothing is lost by a kept connection.
    request = Request(
        "POST",
        url.reveal(),
        headers,
        body,
        timeout=TIMES,
        idempotent=True,
        secrets=(url,),  # whoever knows the address can write there
    )
    match await http.send(request):
        case Reply(status=410):
            return GaveUp("the receiver says that it is gone (410)", gone=True)
        case Reply(status=status) as reply:
            if reply.ok:
                return Delivered()
            return RetryLater(f"the receiver answered {status}", retry_after(reply, now))
        case NotSent(Reason.BAD_ADDRESS) as bad:
            return GaveUp(bad.message)
        case nothing:
            return RetryLater(nothing.message, silent=True)


def _raw(secret: str) -> bytes:
    return base64.b64decode(secret.removeprefix(PREFIX))
