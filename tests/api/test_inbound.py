"""Providers tell what became of messages: believed by their signature alone, each event once, on both databases."""

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import NameOID

from cadenza.inbox.verify import is_amazon_url, is_sns
from tests.api.conftest import Place

SOURCES = "/api/v1/workspaces/home-of-ada/inbound-sources"
INBOX = "/api/v1/workspaces/home-of-ada/inbox"
REPLY = {"kind": "reply", "address": "cy@example.org", "name": "Cy", "text": "Tell me more"}
EVENTS = "SELECT * FROM inbound_event WHERE workspace_id = 'home-of-ada'"


def sign(
    secret: str, body: bytes, *, id_: str = "msg_1", at: datetime | None = None
) -> dict[str, str]:
    moment = str(int((at or datetime.now(UTC)).timestamp()))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{id_}.{moment}.".encode() + body, hashlib.sha256).digest()
    return {
        "webhook-id": id_,
        "webhook-timestamp": moment,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


async def make(place: Place, **said: Any) -> tuple[str, str]:
    """Make a source; return its path and its secret."""
    owner = await place.client("owner")
    body = {"kind": "signed", "account_id": "account-of-ada", **said}
    answer = await owner.post(SOURCES, json=body)
    assert answer.status_code == 201, answer.text
    made = answer.json()
    return f"/in/{made['source']['id']}", made["secret"]


async def send(place: Place, path: str, body: bytes, headers: dict[str, str]) -> httpx2.Response:
    stranger = await place.client()
    return await stranger.post(path, content=body, headers=headers)


async def test_a_signed_event_becomes_a_conversation_once(place: Place) -> None:
    path, secret = await make(place)
    body = json.dumps(REPLY).encode()
    for expected in (1, 0):
        answer = await send(place, path, body, sign(secret, body))
        assert answer.status_code == 200, answer.text
        assert answer.json() == {"recorded": expected}
    owner = await place.client("owner")
    (one,) = (await owner.get(INBOX)).json()["items"]
    assert (one["address"], one["name"], one["state"], one["last_text"]) == (
        *("cy@example.org", "Cy", "open", "Tell me more"),
    )


@pytest.mark.parametrize("wrong", ["secret", "body", "old", "future", "unsigned", "source"])
async def test_what_is_not_signed_rightly_and_now_is_refused(small: Place, wrong: str) -> None:
    path, secret = await make(small)
    body = json.dumps(REPLY).encode()
    when = {"old": timedelta(minutes=-6), "future": timedelta(minutes=6)}.get(wrong, timedelta())
    headers = sign(secret, body, at=datetime.now(UTC) + when)
    if wrong == "secret":
        headers = sign("whsec_" + base64.b64encode(b"other").decode(), body)
    if wrong == "unsigned":
        headers = {}
    if wrong == "body":
        body = body.replace(b"cy@", b"my@")
    if wrong == "source":
        path = "/in/nowhere"
    answer = await send(small, path, body, headers)
    assert answer.status_code == 403, answer.text
    assert "not_believed" in answer.text
    assert await small.rows(EVENTS) == []


async def test_a_source_of_one_workspace_tells_nothing_to_another(small: Place) -> None:
    path, secret = await make(small)
    body = json.dumps({**REPLY, "account_id": "account-of-ben"}).encode()
    assert (await send(small, path, body, sign(secret, body))).json() == {"recorded": 0}
    assert await small.rows("SELECT * FROM inbound_event WHERE address = 'cy@example.org'") == []


async def test_unipiles_secret_header_and_its_signature_are_checked(small: Place) -> None:
    owner = await small.client("owner")
    made = (await owner.post(SOURCES, json={"kind": "unipile"})).json()
    path, secret = f"/in/{made['source']['id']}", made["secret"]
    sql = "UPDATE account SET provider = 'unipile', remote_id = 'u-1' WHERE id = 'account-of-ada'"
    await small.runtime.operations.run(lambda tx, _: tx.run(sql))
    message = {
        "event": "message_received", "account_id": "u-1", "account_type": "LINKEDIN", "message": "stop",
        "message_id": "m-1", "sender": {"attendee_provider_id": "ACoAACy"},
    }  # fmt: skip
    body = json.dumps(message).encode()
    assert (await send(small, path, body, {"unipile-auth": "wrong"})).status_code == 403
    assert (await send(small, path, body, {"unipile-auth": secret})).json() == {"recorded": 1}
    (row,) = await small.rows("SELECT value, reason FROM suppression WHERE value = 'acoaacy'")
    assert row["reason"] == "unsubscribe"
    moment = str(int(datetime.now(UTC).timestamp()))
    digest = hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
    good = {"unipile-signature": f"t={moment},v0={digest}"}
    assert (await send(small, path, body, good)).json() == {"recorded": 0}
    assert (await send(small, path, body + b" ", good)).status_code == 403


async def test_an_account_that_unipile_calls_signed_out_is_held_until_it_is_back(
    small: Place,
) -> None:
    owner = await small.client("owner")
    made = (await owner.post(SOURCES, json={"kind": "unipile"})).json()
    path, secret = f"/in/{made['source']['id']}", made["secret"]
    sql = "UPDATE account SET provider = 'unipile', remote_id = 'u-1' WHERE id = 'account-of-ada'"
    await small.runtime.operations.run(lambda tx, _: tx.run(sql))
    for word, state in (
        *(
            ("ERROR", "connected"),
            ("CREDENTIALS", "needs_reconnect"),
            ("SYNC_SUCCESS", "connected"),
        ),
        ("OK", "connected"),
    ):
        said = {"account_id": "u-1", "account_type": "LINKEDIN", "message": word}
        body = json.dumps({"AccountStatus": said}).encode()
        assert (await send(small, path, body, {"unipile-auth": "wrong"})).status_code == 403
        assert (await send(small, path, body, {"unipile-auth": secret})).json() == {"recorded": 0}
        account = await owner.get("/api/v1/workspaces/home-of-ada/accounts/account-of-ada")
        assert account.json()["state"] == state, word


async def test_mailguns_and_sendgrids_signatures_are_checked(small: Place) -> None:
    path, _ = await make(small, kind="mailgun", secret="signing-key")
    moment = str(int(datetime.now(UTC).timestamp()))
    digest = hmac.new(b"signing-key", f"{moment}tok".encode(), hashlib.sha256).hexdigest()
    event = {"event": "complained", "recipient": "cy@example.org"}
    for signature, status in ((digest, 200), ("0" * 64, 403)):
        body = {
            "signature": {"timestamp": moment, "token": "tok", "signature": signature},
            "event-data": event,
        }
        answer = await send(small, path, json.dumps(body).encode(), {})
        assert answer.status_code == status, answer.text
    key = ec.generate_private_key(ec.SECP256R1())
    public = base64.b64encode(
        key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    ).decode()
    path, _ = await make(small, kind="sendgrid", secret=public)
    body = json.dumps(
        [{"event": "bounce", "email": "my@example.org", "sg_event_id": "e1"}]
    ).encode()
    signed = base64.b64encode(key.sign(moment.encode() + body, ec.ECDSA(hashes.SHA256()))).decode()
    headers = {
        "x-twilio-email-event-webhook-timestamp": moment,
        "x-twilio-email-event-webhook-signature": signed,
    }
    assert (await send(small, path, body + b" ", headers)).status_code == 403
    assert (await send(small, path, body, headers)).json() == {"recorded": 1}
    rows = await small.rows("SELECT value FROM suppression WHERE reason <> 'manual' ORDER BY value")
    assert [row["value"] for row in rows] == ["cy@example.org", "my@example.org"]


async def test_postmarks_secret_is_checked(small: Place) -> None:
    path, secret = await make(small, kind="postmark")
    body = json.dumps({"RecordType": "SpamComplaint", "ID": 1, "Email": "cy@example.org"}).encode()
    assert (await send(small, path, body, {})).status_code == 403
    assert (await send(small, path, body, {"x-cadenza-secret": secret})).json() == {"recorded": 1}


async def test_a_source_needs_what_its_provider_signs_with(small: Place) -> None:
    owner = await small.client("owner")
    for body, code in (
        ({"kind": "mailgun", "account_id": "account-of-ada"}, "secret_needed"),
        ({"kind": "sendgrid", "account_id": "account-of-ada", "secret": "x"}, "bad_secret"),
        ({"kind": "ses", "account_id": "account-of-ada"}, "topic_needed"),
        ({"kind": "signed"}, "account_needed"),
    ):
        answer = await owner.post(SOURCES, json=body)
        assert answer.status_code == 422, answer.text
        assert code in answer.text


def test_amazons_certificate_comes_from_amazon_alone() -> None:
    good = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem"
    assert is_amazon_url(good, certificate=True)
    for url in (
        *(
            "http://sns.eu-west-1.amazonaws.com/a.pem",
            "https://sns.eu-west-1.amazonaws.com.evil.example/a.pem",
        ),
        *(
            "https://evil.example/sns.eu-west-1.amazonaws.com/a.pem",
            "https://u@sns.eu-west-1.amazonaws.com/a.pem",
        ),
        *(
            "https://sns.eu-west-1.amazonaws.com:8443/a.pem",
            "https://sns.eu-west-1.amazonaws.com/a.txt",
            None,
        ),
    ):
        assert not is_amazon_url(url, certificate=True), url


@pytest.mark.parametrize("version", ["1", "2"])
def test_amazons_signature_covers_the_message(version: str) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
        .public_bytes(Encoding.PEM)
    )
    message = {
        "Type": "Notification", "MessageId": "1", "TopicArn": "arn:aws:sns:eu-west-1:1:t",
        "Message": "{}", "Timestamp": "2026-11-18T09:00:00Z", "SignatureVersion": version,
    }  # fmt: skip
    names = ("Message", "MessageId", "Timestamp", "TopicArn", "Type")
    text = "".join(f"{each}\n{message[each]}\n" for each in names)
    digest = hashes.SHA256() if version == "2" else hashes.SHA1()
    signature = key.sign(text.encode(), padding.PKCS1v15(), digest)
    signed = {**message, "Signature": base64.b64encode(signature).decode()}
    assert is_sns(signed, certificate)
    assert not is_sns({**signed, "Message": "{ }"}, certificate)
    assert not is_sns({**signed, "Signature": "AAAA"}, certificate)
    assert not is_sns(signed, b"no certificate")
