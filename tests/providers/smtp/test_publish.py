"""Mail by SMTP: whatever goes wrong on the way, one mail at most, and no doubt before the dot."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.policy import compat32
from email.utils import getaddresses
from pathlib import Path
from typing import Any

import pytest

from cadenza.demo.networks.smtp_model import ReplyLine, Rules, read_mail
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import Answer
from cadenza.providers.http.connect import RawConnection
from cadenza.providers.http.outcome import NotSent
from cadenza.providers.http.policy import Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Message, Recipient
from cadenza.providers.outcome import (
    CannotTell,
    Disconnected,
    Forbidden,
    Outcome,
    RecipientGone,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
)
from tests.providers.contract import PATIENCE, drive, fault_name, judge, no_secret_in
from tests.providers.pictures import picture, png
from tests.providers.smtp.fixtures import ADA, BEN, CANARY, HastyClient, mail, mail_server

STEPS = ("CONNECT", "EHLO", "AUTH", "MAIL", "RCPT", "DATA", "DOT", "QUIT")
BUSY = Answer(421, b"4.3.2 Service shutting down")
# A server that takes a mail twice makes two: nothing on our side could prevent it.
FAULTS: tuple[tuple[Kind, dict[str, Any]], ...] = (
    (Kind.DROP_BEFORE, {}),
    (Kind.RESET_AFTER, {}),
    (Kind.DROP_AFTER, {}),
    (Kind.SILENCE_AFTER, {}),
    (Kind.TRUNCATE_AFTER, {}),
    (Kind.DELAY, {"seconds": PATIENCE * 2.5}),
    (Kind.ERROR_BEFORE, {"answer": BUSY}),
    (Kind.ERROR_AFTER, {"answer": BUSY}),
    (Kind.HTML_AFTER, {}),
    (Kind.DRIP, {"seconds": PATIENCE / 4}),
    (Kind.DRIP, {"seconds": PATIENCE * 3}),
)


def _received(simulated: Any) -> EmailMessage:
    return read_mail(simulated.raw[-1])


async def test_a_mail_goes_out_once_with_its_headers() -> None:
    message = mail(
        html="<p>Good morning</p>",
        unsubscribe_url="https://cadenza.example/u/t0ken",
        options={"auto_submitted": True, "in_reply_to": "<before@example.com>"},
    )
    async with mail_server(message) as (scene, simulated):
        scene.account = replace(
            scene.account,
            settings={**scene.account.settings, "unsubscribe_mailto": "stop@example.com"},
        )
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        got = _received(simulated)
        assert got["From"] == "Ada <ada@example.com>"
        assert got["To"] == "Ben <ben@example.org>"
        assert got["Subject"] == "Hello"
        assert got["Message-ID"] == ended.outcome.remote_id
        assert got["Date"] == "Mon, 02 Mar 2026 09:00:00 +0000"
        assert got["List-Unsubscribe"] == (
            "<https://cadenza.example/u/t0ken>, <mailto:stop@example.com>"
        )
        assert got["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        assert got["Auto-Submitted"] == "auto-generated"
        assert got["In-Reply-To"] == got["References"] == "<before@example.com>"
        kinds = [part.get_content_type() for part in got.walk()]
        assert kinds == ["multipart/alternative", "text/plain", "text/html"]


HIDDEN = "=?utf-8?q?Hello=0D=0ABcc:_cy=40example.org=0D=0A=0D=0Awords?="
LONG_NAME = 'Ben, the "baker", of the long street behind the old mill, cy@example.org, and more'


@pytest.mark.parametrize(
    "subject",
    [
        HIDDEN,
        f"{HIDDEN} {'and on ' * 20}end",
        "x" * 200,
        "long words " * 12 + "end",
        "Grüße aus Köln " * 9 + "😀",
        "two  spaces",
    ],
)
async def test_a_subject_is_read_as_it_was_written(subject: str) -> None:
    async with mail_server(mail(subject=subject)) as (scene, simulated):
        judge(await drive(scene), scene)
        assert str(_received(simulated)["Subject"]) == subject
        assert max(map(len, simulated.raw[-1].split(b"\r\n"))) <= 78


@pytest.mark.parametrize(
    "name", [HIDDEN, LONG_NAME, LONG_NAME * 3, "Bän, B.", 'B "en" \\', "Ben, Baker", "O'Ben"]
)
async def test_a_name_stays_a_name_beside_one_address(name: str) -> None:
    async with mail_server(mail(recipient=Recipient(BEN, name))) as (scene, simulated):
        settings = {**scene.account.settings, "from_name": name}
        scene.account = replace(scene.account, settings=settings)
        judge(await drive(scene), scene)
        raw = message_from_bytes(simulated.raw[-1], policy=compat32)
        for header, address in (("To", BEN), ("From", ADA)):
            ((phrase, box),) = getaddresses([raw[header]])
            assert (str(make_header(decode_header(phrase))), box) == (name, address)


async def test_a_files_name_brings_no_header_of_its_own() -> None:
    async with mail_server(media=(picture(f"{HIDDEN}.png"),)) as (scene, simulated):
        judge(await drive(scene), scene)
        (file,) = list(_received(simulated).iter_attachments())
        assert sorted(file.keys()) == [
            *("Content-Disposition", "Content-Transfer-Encoding", "Content-Type", "MIME-Version")
        ]
        assert file.get_content() == png()


async def test_links_and_ids_stand_in_their_headers_as_they_are() -> None:
    url = f"https://cadenza.example/u/{'t0ken' * 40}"
    before = f"<{'a' * 40}@a-very-long-name-of-a-domain.example.com>"
    message = mail(unsubscribe_url=url, options={"in_reply_to": before})
    async with mail_server(message) as (scene, simulated):
        extra = {"unsubscribe_mailto": "stop@example.com"}
        scene.account = replace(scene.account, settings={**scene.account.settings, **extra})
        judge(await drive(scene), scene)
        raw = simulated.raw[-1].decode()
        assert f"\r\nList-Unsubscribe: <{url}>,\r\n <mailto:stop@example.com>\r\n" in raw
        assert f"\r\nIn-Reply-To: {before}\r\n" in raw
        assert f"\r\nReferences: {before}\r\n" in raw


async def test_an_address_for_answers_may_be_in_other_letters() -> None:
    async with mail_server() as (scene, simulated):
        settings = {**scene.account.settings, "reply_to": "søren@exämple.org"}
        scene.account = replace(scene.account, settings=settings)
        judge(await drive(scene), scene)
        assert b"\r\nReply-To: s\xc3\xb8ren@xn--exmple-cua.org\r\n" in simulated.raw[-1]


@pytest.mark.parametrize("name", ["Ada\r\nBcc: cy@example.org", "Ada\x00", "A\u2028da"])
async def test_a_senders_name_with_line_ends_is_not_sent(name: str) -> None:
    async with mail_server() as (scene, simulated):
        settings = {**scene.account.settings, "from_name": name}
        scene.account = replace(scene.account, settings=settings)
        ended = await drive(scene)
        assert isinstance(ended.outcome, Rejected)
        assert simulated.raw == []


async def test_files_arrive_as_they_were() -> None:
    async with mail_server(media=(picture("sea.png"),)) as (scene, simulated):
        judge(await drive(scene), scene)
        (file,) = list(_received(simulated).iter_attachments())
        assert (file.get_filename(), file.get_content()) == ("sea.png", png())


@pytest.mark.parametrize(
    "text", [".hidden\n..dots\n.\nend", "Grüße aus Köln 😀", "x" * 5000, "one\r\ntwo", "ends\n\n"]
)
async def test_what_is_written_is_what_is_read(text: str) -> None:
    async with mail_server(mail(text)) as (scene, _):
        scene.expected = (text.replace("\r\n", "\n").rstrip("\n"),)
        judge(await drive(scene), scene)


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_an_encrypted_way_is_taken_and_proven(security: str, certificate: Path) -> None:
    async with mail_server(certificate=certificate, security=security) as (scene, simulated):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert simulated.sign_ins == 1


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_a_certificate_of_nobody_ends_before_the_password(
    security: str, certificate: Path
) -> None:
    async with mail_server(certificate=certificate, security=security) as (scene, simulated):
        policy = replace(scene.http._route.policy, ca_file=None)
        async with HastyClient(policy, clock=scene.http.clock) as http:
            scene.http = http
            ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Transient)
        assert "certificate" in ended.outcome.message
        assert simulated.sign_ins == 0


async def test_a_server_that_offers_no_encryption_gets_no_password() -> None:
    async with mail_server(security="starttls") as (scene, simulated):
        ended = await drive(scene)
        judge(ended, scene)
        assert ended.outcome == Forbidden(
            "The mail server offers no encryption on this port; choose TLS or another port.",
            "no_starttls",
        )
        assert simulated.sign_ins == 0


async def test_a_name_that_leads_inside_is_not_even_connected() -> None:
    class Inside:
        async def resolve(self, host: str, port: int) -> list[str]:
            return ["127.0.0.1"]

    async with mail_server() as (scene, simulated):
        async with HastyClient(Policy(), clock=scene.http.clock, resolver=Inside()) as http:
            scene.http = http
            settings = {**scene.account.settings, "host": "mail.example.com", "port": 587}
            scene.account = replace(scene.account, settings=settings)
            ended = await drive(scene)
        assert isinstance(ended.outcome, Transient)
        assert ended.outcome.message == "The address could not be reached."
        assert simulated.sign_ins == 0


async def test_a_strangers_host_is_never_spoken_to_in_the_clear() -> None:
    class Stranger(HastyClient):
        """Connects as to a public host that the owner did not name."""

        async def connect(self, *where: Any, **how: Any) -> RawConnection | NotSent:
            plug = await super().connect(*where, **how)
            return replace(plug, vouched=False) if isinstance(plug, RawConnection) else plug

    async with mail_server() as (scene, simulated):
        async with Stranger(scene.http._route.policy, clock=scene.http.clock) as http:
            scene.http = http
            ended = await drive(scene)
        judge(ended, scene)
        message = "Mail is not sent unencrypted; choose STARTTLS or TLS."
        assert ended.outcome == Forbidden(message, "plain")
        assert simulated.sign_ins == 0


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("kind", "details"), FAULTS, ids=fault_name)
async def test_no_fault_at_any_step_makes_two_mails(
    kind: Kind, details: dict[str, Any], step: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with mail_server() as (scene, simulated):
        fault = simulated.faults.plan(kind, f"SMTP {step}", **details)
        ended = await drive(scene)
        await scene.http.idle.aclose()  # says QUIT where the connection was kept
        judge(ended, scene)
        assert fault.met
        harmless = kind is Kind.DRIP and details["seconds"] < PATIENCE
        if step == "DOT" and not harmless:
            assert isinstance(ended.outcome, Unconfirmed), ended.trail
            assert ended.attempts == 1
        else:
            assert isinstance(ended.outcome, Sent), ended.trail
            assert ended.returned(Unconfirmed) == 0
        no_secret_in([caplog.text, repr(ended)], [CANARY])


@pytest.mark.parametrize("step", ["STARTTLS", "EHLO", "AUTH", "DOT"])
@pytest.mark.parametrize(("kind", "details"), FAULTS[:6], ids=fault_name)
async def test_no_fault_under_encryption_makes_two_mails(
    kind: Kind, details: dict[str, Any], step: str, certificate: Path
) -> None:
    async with mail_server(certificate=certificate, security="starttls") as (scene, simulated):
        fault = simulated.faults.plan(kind, f"SMTP {step}", **details)
        ended = await drive(scene)
        judge(ended, scene)
        assert fault.met
        assert isinstance(ended.outcome, Unconfirmed if step == "DOT" else Sent), ended.trail


async def test_a_refused_connection_costs_an_attempt_and_is_not_unconfirmed() -> None:
    async with mail_server() as (scene, _):
        scene.shut_at("publish")
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert (ended.returned(Transient), ended.returned(Unconfirmed)) == (1, 0)


async def test_an_unconfirmed_send_names_the_mail_to_look_for() -> None:
    async with mail_server() as (scene, simulated):
        simulated.faults.plan(Kind.RESET_AFTER, "SMTP DOT")
        ended = await drive(scene)
        assert isinstance(ended.outcome, Unconfirmed)
        assert isinstance(ended.trail[-1], CannotTell)
        assert ended.trail[-1].again is None
        wanted = _received(simulated)["Message-ID"]
        assert wanted in ended.outcome.message
        assert wanted in ended.trail[-1].message


async def test_a_stranger_is_greylisted_and_comes_again_later() -> None:
    async with mail_server(rules=Rules(greylist=timedelta(minutes=5))) as (scene, _):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(Transient) == 1
        assert ended.waited == timedelta(minutes=10)


async def test_a_rate_limit_waits_as_told_and_burns_nothing() -> None:
    async with mail_server() as (scene, simulated):
        simulated.hourly.limit = 1
        await drive(scene)
        scene.message = mail("Second")
        scene.expected = ("Good morning", "Second")
        ended = await drive(scene)
        judge(ended, scene)
        assert (ended.returned(TryLater), ended.returned(Transient)) == (1, 0)
        assert ended.waited == timedelta(hours=1)


async def test_one_mailboxs_limit_does_not_stop_another() -> None:
    async with mail_server() as (scene, simulated):
        simulated.hourly.limit = 1
        await drive(scene)
        simulated.add_mailbox("cy@example.com", "cys-own-password")
        settings = {**scene.account.settings, "username": "cy@example.com"}
        scene.account = replace(scene.account, remote_id="cy@example.com", settings=settings)
        scene.tokens = replace(scene.tokens, access=Secret("cys-own-password"))
        scene.seen_as = "cy@example.com"
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.returned(TryLater) == 0


@pytest.mark.parametrize("offers", ["LOGIN", "PLAIN", "CRAM-MD5", "XOAUTH2 LOGIN"])
async def test_a_wrong_password_is_tried_once(offers: str) -> None:
    async with mail_server(rules=Rules(offers_auth=offers)) as (scene, simulated):
        scene.tokens = replace(scene.tokens, access=Secret("wrong-password"))
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Disconnected)
        assert simulated.sign_ins == 1


@pytest.mark.parametrize("offers", ["LOGIN", "PLAIN", "LOGIN PLAIN", "CRAM-MD5"])
async def test_one_of_the_offered_ways_to_sign_in_is_taken(offers: str) -> None:
    async with mail_server(rules=Rules(offers_auth=offers)) as (scene, simulated):
        judge(await drive(scene), scene)
        assert simulated.sign_ins == 1


async def test_a_password_in_other_letters_signs_in() -> None:
    async with mail_server() as (scene, simulated):
        simulated.add_mailbox(ADA, "pässwörd-日本")
        scene.tokens = replace(scene.tokens, access=Secret("pässwörd-日本"))
        judge(await drive(scene), scene)
        assert simulated.sign_ins == 1


async def test_an_access_token_signs_in_by_oauth() -> None:
    async with mail_server() as (scene, _):
        scene.account = replace(scene.account, settings={**scene.account.settings, "auth": "oauth"})
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)


async def test_a_password_that_ends_between_two_steps_disconnects() -> None:
    async with mail_server() as (scene, simulated):
        simulated.faults.plan(Kind.EXPIRE, "SMTP AUTH")
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Disconnected)


@pytest.mark.parametrize(
    ("place", "line", "expected"),
    [
        ("rcpt", ReplyLine(550, "5.1.1 No such user"), RecipientGone),
        ("dot", ReplyLine(550, "5.7.1 Message refused by policy"), Forbidden),
        ("dot", ReplyLine(552, "5.3.4 Too big"), Rejected),
    ],
)
async def test_a_recipients_script_ends_clearly_and_the_next_one_gets_mail(
    place: str, line: ReplyLine, expected: type[Outcome]
) -> None:
    async with mail_server() as (scene, simulated):
        simulated.script(BEN, **{place: (line,)})
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, expected)
        scene.message = mail(recipient=Recipient("cy@example.org"))
        judge(await drive(scene), scene)
        assert scene.visible() == ["Good morning"]


async def test_a_full_mailbox_is_tried_again_hours_later() -> None:
    async with mail_server() as (scene, simulated):
        simulated.script(BEN, rcpt=(ReplyLine(552, "5.2.2 Mailbox full"),))
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.waited == timedelta(hours=4)


async def test_the_announced_size_is_refused_before_the_body() -> None:
    async with mail_server(mail("x" * 4000), rules=Rules(size=2000)) as (scene, simulated):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Rejected)
        assert simulated.raw == []


async def test_an_address_in_other_letters_needs_a_server_that_takes_it() -> None:
    message = mail(recipient=Recipient("søren@exämple.org"))
    async with mail_server(message) as (scene, simulated):
        assert scene.provider.validate(message, scene.account) == []
        judge(await drive(scene), scene)
        assert scene.simulator.visible(simulated)[0].to == "søren@xn--exmple-cua.org"
    async with mail_server(message, rules=Rules(utf8=False)) as (scene, simulated):
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Forbidden)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (mail(recipient=None), "no_recipient"),
        (mail(recipient=Recipient("ben")), "bad_address"),
        (mail(recipient=Recipient("ben@example.org>\r\nRCPT TO:<cy@example.org")), "bad_address"),
        (mail(recipient=Recipient("a@example.org,b@example.org")), "bad_address"),
        (mail(subject=""), "no_subject"),
        (mail(subject="Hi\r\nBcc: cy@example.org"), "control_character"),
        (mail(recipient=Recipient(BEN, "Ben\nBcc: x")), "control_character"),
        (mail(""), "empty"),
        (mail(unsubscribe_url="http://cadenza.example/u"), "unsubscribe_url"),
        (mail(media=(replace(picture(), size=30_000_000),)), "too_large"),
    ],
)
async def test_what_no_server_takes_is_said_before_and_never_injected(
    message: Message, code: str
) -> None:
    async with mail_server(message) as (scene, simulated):
        found = scene.provider.validate(message, scene.account)
        assert [each.code for each in found] == [code]
        if code not in {"no_subject", "empty", "unsubscribe_url", "too_large"}:
            ended = await drive(scene)
            judge(ended, scene)
            assert isinstance(ended.outcome, Rejected)
            assert simulated.raw == []


async def test_a_password_echoed_by_the_server_is_not_passed_on() -> None:
    async with mail_server() as (scene, simulated):
        import base64

        coded = base64.b64encode(f"\0{ADA}\0{CANARY}".encode()).decode()
        words = f"5.7.9 you said {CANARY} and {coded}".encode()
        simulated.faults.plan(Kind.ERROR_BEFORE, "SMTP AUTH", answer=Answer(535, words))
        ended = await drive(scene)
        assert isinstance(ended.outcome, Disconnected)
        no_secret_in([repr(ended)], [CANARY, coded])


async def test_a_bounce_names_the_mail_that_it_is_about() -> None:
    async with mail_server() as (scene, simulated):
        ended = await drive(scene)
        (entry,) = scene.simulator.visible(simulated)
        report = read_mail(simulated.bounce(entry, "5.1.1"))
        assert report.get_content_type() == "multipart/report"
        assert report.get_param("report-type") == "delivery-status"
        text = simulated.bounce(entry, "4.2.2").decode()
        assert "Status: 4.2.2" in text
        assert "Action: delayed" in text
        assert isinstance(ended.outcome, Sent)
        assert f"Message-ID: {ended.outcome.remote_id}" in text
