"""Connect a webhook: an address and the secret that the receiver checks signatures with.

Who knows the address can often write there, so it is kept with the secrets; what is shown of it is cut.
"""

from collections.abc import Mapping

from cadenza.providers.connect import Connected, Connecting, Field, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.providers.outcome import Outcome, Rejected
from cadenza.providers.split_address import cut_address, split_address
from cadenza.providers.webhook.sign import LENGTHS, address_id, read_key


class WebhookConnector:
    """Type an address and a secret; nothing is sent to try them."""

    fields = (
        Field("url", "Address", hint="for example https://example.com/hooks/cadenza"),
        Field("secret", "Signing secret", secret=True, hint="whsec_…"),
        Field(
            "previous",
            "Old secret",
            secret=True,
            hint="leave it empty, unless you change the secret: then both sign, until you connect without it",
            required=False,
        ),
    )

    async def begin(self, connecting: Connecting) -> Redirect | tuple[Connected, ...] | Outcome:
        """Check what was typed; the guarded client judges where the address leads, at each call."""
        url = str(connecting.typed.get("url") or "").strip()
        secret, previous = (_typed(connecting, name) for name in ("secret", "previous"))
        parts = split_address(url)
        name = parts.hostname if parts else None
        if not parts or parts.scheme not in {"https", "http"} or not name or parts.username:
            return Rejected("Give a whole address, like https://example.com/hooks.", "url")
        if read_key(secret) is None or (previous and read_key(previous) is None):
            message = f"A secret must be whsec_ and {LENGTHS[0]} to {LENGTHS[-1]} bytes in base64."
            return Rejected(message, "secret")
        extra = {"url": Secret(url)} | ({"previous": previous} if previous else {})
        tokens = Tokens(access=secret, refreshed_at=connecting.now, extra=extra)
        return (
            Connected(
                remote_id=address_id(url),
                handle=name,
                name=name,
                tokens=tokens,
                settings={"url": cut_address(url)},
            ),
        )

    async def complete(
        self, connecting: Connecting, keep: Mapping[str, Secret], code: Secret
    ) -> tuple[Connected, ...] | Outcome:
        """Refuse: nobody is sent away and comes back."""
        return Rejected("A webhook is connected in one step.", "no_code")


def _typed(connecting: Connecting, name: str) -> Secret:
    return Secret(Secret(connecting.typed.get(name, "")).reveal().strip())
