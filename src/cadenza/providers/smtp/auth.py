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
from cadenza.providers.smtp.publish import dkim_key_of, failure, server_of
from cadenza.providers.smtp.session import MailAccepted, deliver
from cadenza.providers.smtp.sign_dkim import UnusableKey, check_key

SECURITY = ("starttls", "tls", "none")
SECRETS = ("password", "dkim_key")


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
        Field(
            "bounce_domain",
            "Domain for bounces",
            hint="its mail must reach your mailbox",
            required=False,
        ),
        Field(
            "dkim_selector",
            "DKIM selector",
            hint="only if your server doesn't sign",
            required=False,
        ),
        Field("dkim_key", "DKIM private key", secret=True, hint="in PEM form", required=False),
    )

    async def begin(self, connecting: Connecting) -> Redirect | tuple[Connected, ...] | Outcome:
        """Sign in once with what was typed."""
        typed = {k: str(v).strip() for k, v in connecting.typed.items() if k not in SECRETS}
        address = typed.get("from_address", "")
        security = typed.get("security") or ("tls" if typed.get("port") == "465" else "starttls")
        port = typed.get("port") or ("465" if security == "tls" else "587")
        if not is_address(address):
            return Rejected("Name the address to send from, like ada@example.com.", "from_address")
        if security not in SECURITY or not port.isdecimal():
            return Rejected("Encryption is starttls or tls, the port a number.", "security")
        bounces = typed.get("bounce_domain", "").lower()
        if bounces and not is_address(f"b@{bounces}"):
            return Rejected("The domain for bounces is like bounce.example.com.", "bounce_domain")
        password = Secret(connecting.typed.get("password") or "")
        settings = {
            "host": typed.get("host", ""),
            "port": int(port),
            "security": security,
            "username": typed.get("username") or address,
            "from_address": address,
            "from_name": typed.get("from_name", ""),
            "bounce_domain": bounces,
        }
        selector = typed.get("dkim_selector", "")
        signing_key = Secret(connecting.typed.get("dkim_key") or "")
        if bool(selector) != bool(signing_key.reveal().strip()):
            return Rejected("DKIM needs both a selector and its private key.", "dkim_key")
        if selector:
            settings["dkim_selector"] = selector
        extra = {"dkim_key": signing_key} if selector else {}
        tokens = Tokens(access=password, refreshed_at=connecting.now, extra=extra)
        account = AccountRef(id="", remote_id=address, settings=settings)
        try:
            signing = dkim_key_of(account, tokens)
            if signing is not None:
                check_key(signing)
        except UnusableKey as error:
            return Rejected(str(error), "dkim_key")
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
