"""An account's signature stands below every mail of its own, in text and in HTML, and changes nothing else."""

from dataclasses import replace

from cadenza.core.channels import Channel
from cadenza.providers.message import AccountRef, Message
from cadenza.providers.sign_mail import signed
from tests.providers.contract import drive
from tests.providers.smtp.fixtures import mail, mail_server
from tests.providers.unipile.fixtures import unipile

ADA = AccountRef(id="a", remote_id="a", settings={"signature": "Ada\nBakery <Mill Lane>\n"})


def test_it_follows_the_usual_delimiter_and_is_escaped_in_html() -> None:
    message = Message(channel=Channel.EMAIL, text="Hello\n", html="<html><body>Hello</body></html>")
    done = signed(message, ADA)
    assert done.text == "Hello\n\n-- \nAda\nBakery <Mill Lane>"
    assert done.html is not None
    assert done.html.endswith("Ada<br>Bakery &lt;Mill Lane&gt;</div></body></html>")
    bare = signed(Message(channel=Channel.EMAIL, html="<p>Hello</p>"), ADA)
    assert (bare.text, bare.html is not None and bare.html.startswith("<p>Hello</p><div>")) == (
        *("", True),
    )


def test_without_one_the_mail_is_the_same() -> None:
    message = Message(channel=Channel.EMAIL, text="Hello")
    assert (
        signed(message, AccountRef(id="a", remote_id="a", settings={"signature": " "})) is message
    )


async def test_mails_by_smtp_and_by_unipile_carry_name_reply_to_and_signature() -> None:
    own = {"from_name": "Ada of the bakery", "reply_to": "orders@example.com", "signature": "Ada"}
    async with mail_server(mail("Hello")) as (scene, simulated):
        scene.account = replace(scene.account, settings={**scene.account.settings, **own})
        await drive(scene)
        (raw,) = simulated.raw
        assert b"From: Ada of the bakery <ada@example.com>" in raw
        assert b"Reply-To: orders@example.com" in raw
        assert b"Hello\r\n\r\n-- \r\nAda" in raw
    async with unipile("email", options={"in_reply_to": "<1@example.org>"}) as (scene, simulated):
        settings = {**scene.account.settings, **own, "from_address": "ada@example.com"}
        scene.account = replace(scene.account, settings=settings)
        await drive(scene)
        (call,) = [each for each in simulated.received if each.path.endswith("/emails")]
        fields = {part.name: part.text for part in call.parts()}
        assert fields["body"].endswith("<br><br>-- <br>Ada")
        assert '"display_name": "Ada of the bakery"' in fields["from"]
        for header in (
            '"Reply-To", "value": "orders@example.com"',
            '"In-Reply-To"',
            '"References"',
        ):
            assert header in fields["custom_headers"]
