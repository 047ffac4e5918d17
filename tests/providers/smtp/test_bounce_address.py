"""A mail may have a return address of its own, which names it to whoever reads the report."""

from cadenza.inbox.classify_mail import classify_mail
from cadenza.providers.message import AccountRef
from cadenza.providers.smtp.compose import bounce_address, message_id

ADA = AccountRef(id="a1", remote_id="ada@example.org", settings={})
BOUNCES = AccountRef(
    id="a1", remote_id="ada@example.org", settings={"bounce_domain": "bounce.example.org"}
)


def test_without_a_domain_for_bounces_they_go_to_the_sender() -> None:
    assert bounce_address("key", ADA) == "ada@example.org"


def test_the_address_holds_the_digits_of_the_message_id() -> None:
    address = bounce_address("key", BOUNCES)
    local, _, domain = address.partition("@")
    assert domain == "bounce.example.org"
    assert len(local) <= 64
    digits = message_id("key", BOUNCES)[1:].partition("@")[0]
    assert local.replace("+", "") == f"b{digits}"
    report = f"From: mailer-daemon@x.example\r\nReturn-Path: <>\r\nTo: {address}\r\n\r\n550 5.1.1 no such user\r\n"
    token = classify_mail(report.encode()).token
    assert token is not None
    assert token.replace("+", "") == digits
