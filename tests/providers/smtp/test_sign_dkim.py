"""Signatures hold for another program's verifier, and break with whatever they cover."""

from __future__ import annotations

import base64
from typing import Any

import dkim
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.core.secret import Secret
from cadenza.providers.message import AccountRef
from cadenza.providers.outcome import Rejected, Sent
from cadenza.providers.smtp import CONNECTOR
from cadenza.providers.smtp.sign_dkim import DkimKey, UnusableKey, check_key, sign_dkim
from tests.providers.contract import drive, judge, no_secret_in
from tests.providers.smtp.fixtures import mail_server
from tests.providers.smtp.test_auth import connecting

RSA = generate_private_key(65537, 2048)
MAIL = (
    b"From: Ada <ada@example.com>\r\nTo: ben@example.com\r\nSubject: Fresh   bread\r\n on Monday\r\n"
    b"List-Unsubscribe: <https://example.com/u/1>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"
    b"\r\nHello  Ben, \r\n\r\nsee you.\t\r\n\r\n\r\n"
)


def key_of(private: RSAPrivateKey | Ed25519PrivateKey = RSA) -> DkimKey:
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return DkimKey("example.com", "s1", Secret(pem))


def verifies(mail: bytes) -> bool:
    """Ask dkimpy, with the public key in place of the DNS."""
    public = RSA.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    record = b"v=DKIM1; k=rsa; p=" + base64.b64encode(public)
    return bool(dkim.verify(mail, dnsfunc=lambda *_, **__: record))


def test_another_program_finds_the_signature_good() -> None:
    assert verifies(sign_dkim(MAIL, key_of(), at=1_763_400_000))


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (b"see you", b"see me"),
        (b"One-Click", b"Two-Click"),
        (b"/u/1>", b"/u/2>"),
        (b"Fresh", b"Stale"),
        (b"From: Ada", b"From: eve@example.com\r\nFrom: Ada"),
    ],
)
def test_a_change_of_what_is_signed_breaks_it(was: bytes, becomes: bytes) -> None:
    signed = sign_dkim(MAIL, key_of(), at=1)
    assert not verifies(signed.replace(was, becomes, 1))


@settings(max_examples=50)
@given(
    st.text(st.characters(codec="ascii", exclude_characters="\r\n\0"), max_size=60),
    st.lists(st.text(st.sampled_from("ab \t.-="), max_size=40), max_size=8),
)
def test_every_subject_and_body_verifies(subject: str, lines: list[str]) -> None:
    body = "".join(f"{line}\r\n" for line in lines)
    mail = f"From: ada@example.com\r\nSubject: x{subject}\r\n\r\n{body}".encode()
    assert verifies(sign_dkim(mail, key_of(), at=1))


def test_an_ed25519_key_signs_too() -> None:
    signed = sign_dkim(MAIL, key_of(Ed25519PrivateKey.generate()), at=1)
    assert b"a=ed25519-sha256" in signed


@pytest.mark.parametrize(
    "pem", ["", "ada", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"]
)
def test_what_is_no_key_is_refused_with_what_to_do(pem: str) -> None:
    with pytest.raises(UnusableKey, match="PEM"):
        check_key(DkimKey("example.com", "s1", Secret(pem)))


async def test_an_account_with_a_key_signs_what_it_sends() -> None:
    private = key_of().private
    async with mail_server() as (scene, simulated):
        typed: dict[str, Any] = {"dkim_selector": "s1", "dkim_key": private}
        connected = await CONNECTOR.begin(connecting(scene, **typed))
        assert isinstance(connected, tuple)
        (ada,) = connected
        scene.account = AccountRef(id="a1", remote_id=ada.remote_id, settings=ada.settings)
        scene.tokens = ada.tokens
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent), ended
        assert verifies(simulated.raw[-1])
        no_secret_in([repr(connected), str(ada.settings)], [private.reveal()])


@pytest.mark.parametrize(
    "typed", [{"dkim_selector": "s1"}, {"dkim_selector": "s1", "dkim_key": "no key"}]
)
async def test_an_account_is_not_connected_with_half_a_key(typed: dict[str, str]) -> None:
    async with mail_server() as (scene, _):
        refused = await CONNECTOR.begin(connecting(scene, **typed))
        assert isinstance(refused, Rejected)
        assert refused.code == "dkim_key"
