"""Connect a mailbox: take server, name and password, sign in once, send nothing.

The password is proven by a whole sign-in over the same guarded, encrypted way that mails will take.
Limit: whether the server lets this name send from that address shows with the first mail only.
"""

from collections.abc import Mapping

from cadenza.providers.connect import Connected, Connecting, Field, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.mail_address import is_address
from cadenza.providers.message import AccountRef, Tokens
from cadenza.providers.outcome import Outcome, Rejected
from cadenza.providers.smtp.publish import failure, server_of
from cadenza.providers.smtp.session import MailAccepted, deliver

SECURITY = ("starttls", "tls", "none")


class SmtpConnector:
    """A mailbox, typed."""

    fields = (
        Field("host", "Outgoing server", hint="for example smtp.example.com"),
        Field("port", "Port", hint="587 (STARTTLS) or 465 (TLS)", required=False),
        Field("security", "Encryption", hint="starttls or tls", required=False),
        Field("username", "User name", hint="often the address itself", required=False),
        Field("password", "Password", secret=True, hint="often one for apps alone"),
        Field("from_address", "Address to send from"),
        Field("from_name", "Name to send from", required=False),
    )

    async def begin(self, connecting: Connecting) -> Redirect | tuple[Connected, ...] | Outcome:
        """Sign in once with what was typed."""
        typed = {k: str(v).strip() for k, v in connecting.typed.items() if k != "password"}
        address = typed.get("from_address", "")
        security = typed.get("security") or ("tls" if typed.get("port") == "465" else "starttls")
        port = typed.get("port") or ("465" if security == "tls" else "587")
        if not is_address(address):
            return Rejected("Name the address to send from, like ada@example.com.", "from_address")
        if security not in SECURITY or not port.isdecimal():
            return Rejected("Encryption is starttls or tls, the port a number.", "security")
        password = Secret(connecting.typed.get("password") or "")
        settings = {
            "host": typed.get("host", ""),
            "port": int(port),
            "security": security,
            "username": typed.get("username") or address,
            "from_address": address,
            "from_name": typed.get("from_name", ""),
        }
        tokens = Tokens(access=password, refreshed_at=connecting.now)
        account = AccountRef(id="", remote_id=address, settings=settings)
        server = server_of(account, tokens)
        ending = await deliver(connecting.http, server, None)
        if not isinstance(ending, MailAccepted):
            return failure(ending, server)
        name = typed.get("from_name") or address
        return (
            Connected(
                remote_id=address.lower(),
                handle=address,
                name=name,
                tokens=tokens,
                settings={k: v for k, v in settings.items() if v != ""},
            ),
        )

    async def complete(
        self, connecting: Connecting, keep: Mapping[str, Secret], code: Secret
    ) -> tuple[Connected, ...] | Outcome:
        """Refuse: nobody is sent anywhere."""
        return Rejected("Mailboxes are connected by their password alone.", "no_code")
