"""Connect a Threads account: send the person there, make the token long, ask who it is."""

from collections.abc import Mapping

from cadenza.providers.connect import Connected, Connecting, Field, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.providers.meta.graph import graph
from cadenza.providers.meta.longlived import exchange_code, lengthen
from cadenza.providers.meta.signin import NO_APP, SignInDialog, dialog
from cadenza.providers.outcome import Outcome, Rejected
from cadenza.providers.reply import HttpSuccess
from cadenza.providers.threads.errors import TABLE
from cadenza.providers.threads.publish import THREADS, VERSION

WWW = "https://threads.net"
# Replies are read to find a thread's later parts again after an unconfirmed send.
SCOPES = ("threads_basic", "threads_content_publish", "threads_read_replies")


class ThreadsConnector:
    """Sign in with Threads."""

    fields: tuple[Field, ...] = ()

    async def begin(self, connecting: Connecting) -> Redirect | tuple[Connected, ...] | Outcome:
        """Say where to send the person."""
        if not connecting.app.client_id:
            return Rejected(NO_APP, "no_app")
        www = (connecting.app.options.get("www") or WWW).rstrip("/")
        return Redirect(dialog(connecting, f"{www}/oauth/authorize", SCOPES))

    async def complete(
        self, connecting: Connecting, keep: Mapping[str, Secret], code: Secret
    ) -> tuple[Connected, ...] | Outcome:
        """Exchange the code, make its token long, and ask who it is."""
        base = (connecting.app.base_url or THREADS).rstrip("/")
        door = SignInDialog(connecting.http, connecting.app, connecting.now, TABLE, base)
        url = f"{base}/oauth/access_token"
        short = await exchange_code(door, url, code, connecting.redirect_uri)
        if not isinstance(short, Secret):
            return short
        tokens = await lengthen(door, short, "th_exchange_token")
        if not isinstance(tokens, Tokens):
            return tokens
        threads = graph(connecting.app, tokens.access, base=base, version=VERSION)
        got = await door.ask(threads.get("me", {"fields": "id,username"}))
        if not isinstance(got, HttpSuccess):
            return got
        remote_id, handle = got.text("id"), got.text("username")
        if remote_id is None or handle is None:
            return Rejected("Threads did not say who signed in.", "no_account")
        return (Connected(remote_id=remote_id, handle=f"@{handle}", name=handle, tokens=tokens),)
