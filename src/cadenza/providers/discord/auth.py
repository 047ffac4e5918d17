"""Connect a Discord channel: the person pastes the webhook's address, and Discord says whose it is."""

import re
from collections.abc import Mapping

from cadenza.providers.connect import Connected, Connecting, Field, Redirect
from cadenza.providers.discord.errors import TABLE
from cadenza.providers.discord.publish import hook_secrets, versioned
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Request
from cadenza.providers.message import Tokens
from cadenza.providers.outcome import Outcome, Rejected
from cadenza.providers.reply import HttpSuccess, ask_through
from cadenza.providers.split_address import split_address

HOSTS = ("https://discord.com", "https://discordapp.com", "https://canary.discord.com")
_PATH = re.compile(r"/api/(?:v\d+/)?webhooks/(\d+)/[\w-]+")


class DiscordConnector:
    """Paste a webhook."""

    fields = (
        Field(
            "url", "Webhook URL", secret=True, hint="for example https://discord.com/api/webhooks/…"
        ),
    )

    async def begin(self, connecting: Connecting) -> Redirect | tuple[Connected, ...] | Outcome:
        """Ask Discord about the webhook."""
        typed = Secret(connecting.typed.get("url", "")).reveal().strip()
        parts = split_address(typed)
        base = connecting.app.base_url.rstrip("/")
        origin = f"{parts.scheme}://{parts.netloc}" if parts else ""
        found = _PATH.fullmatch(parts.path) if parts else None
        if found is None or origin not in ((base,) if base else HOSTS):
            return Rejected("Paste the whole address that Discord copies for the webhook.", "url")
        hook = versioned(Secret(origin + found[0]))  # what followed a question mark is left out
        request = Request("GET", hook.reveal(), secrets=hook_secrets(hook))
        got = await ask_through(
            connecting.http, request, TABLE, now=connecting.now, secrets=request.secrets
        )
        if not isinstance(got, HttpSuccess):
            return got
        name = got.text("name") or "Discord webhook"
        places = {key: got.text(key) for key in ("guild_id", "channel_id")}
        return (
            Connected(
                remote_id=got.text("id") or found[1],
                handle=name,
                name=name,
                tokens=Tokens(access=hook, refreshed_at=connecting.now),
                settings={key: value for key, value in places.items() if value},
            ),
        )

    async def complete(
        self, connecting: Connecting, keep: Mapping[str, Secret], code: Secret
    ) -> tuple[Connected, ...] | Outcome:
        """Refuse: nobody is sent away and comes back."""
        return Rejected("A Discord webhook is connected in one step.", "no_code")
