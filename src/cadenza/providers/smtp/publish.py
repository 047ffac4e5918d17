"""Send one mail to one recipient: the dot that ends its data is the irreversible call.

There is nothing to prepare, and nobody to ask afterwards: a reply lost after the dot stays an unconfirmed send for
a person, who finds the mail's Message-ID in the sent folder or the server's log. "Sent" means that the
server took it; whether it arrives is told by bounces, which are not read here.
"""

import base64
from dataclasses import replace

from cadenza.core.channels import Channel
from cadenza.providers.base import (
    PACE,
    AttemptContext,
    Capabilities,
    Idempotency,
    Prepared,
    Problem,
    StillPreparing,
)
from cadenza.providers.first_comment import left_out
from cadenza.providers.http.outcome import NotSent, Reason
from cadenza.providers.http.redact import Secret, redact
from cadenza.providers.link_card import unseen_link
from cadenza.providers.mail_address import is_address
from cadenza.providers.message import AccountRef, Message, Tokens
from cadenza.providers.outcome import (
    CannotTell,
    Disconnected,
    Finding,
    Forbidden,
    Outcome,
    Rejected,
    Sent,
    Transient,
    Unconfirmed,
)
from cadenza.providers.smtp.compose import (
    bounce_address,
    compose,
    message_id,
    needs_utf8,
    on_the_wire,
)
from cadenza.providers.smtp.errors import TABLE, Stage, read_reply
from cadenza.providers.smtp.limits import problems, sender_of
from cadenza.providers.smtp.session import (
    Ending,
    Lost,
    MailAccepted,
    MailRefused,
    OutgoingMail,
    Server,
    Unfit,
    deliver,
)
from cadenza.providers.smtp.sign_dkim import DkimKey, UnusableKey, sign_dkim

LOST = "The mail server took the message and did not answer; look for {id} in the sent mail."


class Smtp:
    """The adapter."""

    channels = (Channel.EMAIL,)

    def __init__(self, name: str = "smtp") -> None:
        self.name = name  # mailboxes that are signed in to otherwise send in the same way

    def capabilities(self, channel: Channel) -> Capabilities:
        """Say what the pipeline may count on."""
        return Capabilities(
            idempotency=Idempotency.NONE, findable=False, needs_recipient=True, pace=PACE
        )

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        """Say all that a mail server would refuse."""
        found = problems(message, account)
        return [*found, *left_out(message, "e-mail"), *unseen_link(message, "e-mail")]

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        """Do nothing: a mail has no drafts over there."""
        return Prepared({})

    async def publish(self, call: AttemptContext) -> Outcome:
        """Hand the mail over; the call that must not happen twice."""
        recipient = call.message.recipient
        if recipient is None or not is_address(recipient.address):
            return Rejected("A mail needs one plain address to go to.", "bad_address")
        server = server_of(call.account, call.tokens)
        try:
            to = on_the_wire(recipient.address)
            sender = on_the_wire(bounce_address(call.key, call.account))
            data = await compose(call)
            signing = dkim_key_of(call.account, call.tokens)
            if signing is not None:
                data = sign_dkim(data, signing, at=int(call.now.timestamp()))
        except UnusableKey as error:
            return Forbidden(f"{error} Connect the account again.", "dkim_key")
        except (ValueError, UnicodeError):
            return Rejected("An address or a header of this mail cannot be written.", "header")
        answers_to = str(call.account.settings.get("reply_to") or "")
        letter = OutgoingMail(sender, to, data, utf8=needs_utf8(sender, to, answers_to))
        ending = await deliver(call.http, server, letter, secrets_of(server))
        if isinstance(ending, MailAccepted):
            told = redact(ending.message, secrets_of(server))
            return Sent(message_id(call.key, call.account), note=told or None)
        if isinstance(ending, Lost) and ending.perhaps:
            return Unconfirmed(LOST.format(id=message_id(call.key, call.account)))
        return failure(ending, server)

    async def find_out(self, call: AttemptContext) -> Finding:
        """Admit it: SMTP has no question for that."""
        wanted = message_id(call.key, call.account)
        return CannotTell(f"Mail servers cannot be asked; look for {wanted} in the sent mail.")

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """Add nothing: a mail has no address of its own."""
        return sent

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Refuse: a password has no successor."""
        return Disconnected("A mail password is not renewed; connect the account again.")


def server_of(account: AccountRef, tokens: Tokens) -> Server:
    """Read where an account's mail goes from its settings."""
    settings = account.settings
    domain = sender_of(account).rpartition("@")[2]
    return Server(
        host=str(settings.get("host") or ""),
        port=int(settings.get("port") or 587),
        security=str(settings.get("security") or "starttls"),
        username=str(settings.get("username") or ""),
        secret=tokens.access or None,
        oauth=settings.get("auth") == "oauth",
        hello=domain if domain and domain.isascii() else "localhost",
    )


def dkim_key_of(account: AccountRef, tokens: Tokens) -> DkimKey | None:
    """Return what the account's mails are signed with; None: its server signs, or nobody does."""
    selector, private = account.settings.get("dkim_selector"), tokens.extra.get("dkim_key")
    if not selector or private is None:
        return None
    domain = str(account.settings.get("dkim_domain") or sender_of(account).rpartition("@")[2])
    return DkimKey(on_the_wire(f"x@{domain}").partition("@")[2], str(selector), private)


def failure(ending: Ending, server: Server) -> Outcome:
    """Say what an ending without success means; nothing was taken."""
    match ending:
        case MailRefused(stage, code, text):
            refusal = read_reply(code, text, stage)
            words = redact(refusal.words, secrets_of(server))
            return TABLE.judge(replace(refusal, words=words))
        case NotSent(reason=Reason.BAD_ADDRESS, message=message):
            return Forbidden(f"{message} Correct the account's server.", "bad_address")
        case NotSent(message=message):
            return Transient(message, out_of_order=True)
        case Unfit(code, message):
            return Forbidden(message, code)
        case Lost(stage=Stage.TLS):
            message = (
                "No encrypted connection came about; the mail server's certificate may be wrong."
            )
            return Transient(message)
        case Lost(stage=stage):
            message = f"The mail server fell silent ({stage.value}); nothing was sent."
            return Transient(message, out_of_order=True)
        case MailAccepted():
            return Transient("nothing failed")


def secrets_of(server: Server) -> tuple[Secret, ...]:
    """Return the password in every dress that a server could echo."""
    if server.secret is None:
        return ()
    plain = server.secret.reveal()
    dressed = (plain, f"\0{server.username}\0{plain}")
    coded = (base64.b64encode(each.encode()).decode() for each in dressed)
    return (server.secret, *(Secret(each) for each in coded))
