"""Signatures of the Standard Webhooks specification."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.providers.http.redact import Secret
from cadenza.providers.webhook.sign import message_id, read_key, signature, signed_headers

SECRET = Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
ID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
BODY = b'{"test": 2432232314}'
MARK = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_specifications_example_is_signed_as_it_says() -> None:
    key = read_key(SECRET)
    assert key is not None
    assert signature(key, ID, 1614265330, BODY) == MARK


def test_the_old_secret_signs_beside_the_new_one() -> None:
    new = Secret("whsec_" + base64.b64encode(b"n" * 32).decode())
    now = datetime.fromtimestamp(1614265330, UTC)
    headers = signed_headers((new, SECRET), message=ID, now=now, body=BODY)
    marks = headers["webhook-signature"].split(" ")
    assert (len(marks), marks[1]) == (2, MARK)
    assert headers["webhook-timestamp"] == "1614265330"


@pytest.mark.parametrize("text", ["", "whsec_", "whsec_!!", "whsec_c2hvcnQ=", "whsec_" + "A" * 88])
def test_weak_or_broken_secrets_are_no_keys(text: str) -> None:
    assert read_key(Secret(text)) is None


@given(st.text(), st.text())
def test_ids_follow_the_key_and_hold_no_dot(one: str, other: str) -> None:
    assert "." not in message_id(one)
    assert (message_id(one) == message_id(other)) == (one == other)
