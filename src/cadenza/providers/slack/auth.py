"""Connect a Slack channel: the person pastes the hook's address.

It is tried with an empty message: a living hook answers "no_text" and shows nothing to anyone.
"""

from collections.abc import Mapping

from cadenza.providers.connect import Connected, Connecting, Field, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.providers.outcome import Outcome, Rejected
from cadenza.providers.reply import ask_through
from cadenza.providers.slack.errors import NO_TEXT, TABLE
from cadenza.providers.slack.publish import post
from cadenza.providers.split_address import split_address

HOSTS = ("https://hooks.slack.com", "https://hooks.slack-gov.com")


class SlackConnector:
    """Paste a hook."""

    fields = (
        Field(
            "url", "Webhook URL", secret=True, hint="for example https://hooks.slack.com/services/…"
        ),
        Field("name", "Channel", hint="for example #news", required=False),
    )

    async def begin(self, connecting: Connecting) -> Redirect | tuple[Connected, ...] | Outcome:
        """Try the hook without showing anything."""
        typed = connecting.typed.get("url", "")
        hook = Secret(Secret(typed).reveal().strip())
        place = _place(hook, connecting.app.base_url)
        if place is None:
            return Rejected("Paste the whole address that Slack shows for the hook.", "url")
        request = post(hook, {"text": ""}, repeatable=True)
        answer = await ask_through(
            connecting.http, request, TABLE, now=connecting.now, secrets=request.secrets
        )
        if not (isinstance(answer, Rejected) and answer.code == NO_TEXT):
            refused = Rejected("Slack did not answer as a hook does.", "url")
            return answer if isinstance(answer, Outcome) else refused
        name = str(connecting.typed.get("name") or "") or "Slack channel"
        tokens = Tokens(access=hook, refreshed_at=connecting.now)
        return (Connected(remote_id=place, handle=name, name=name, tokens=tokens),)

    async def complete(
        self, connecting: Connecting, keep: Mapping[str, Secret], code: Secret
    ) -> tuple[Connected, ...] | Outcome:
        """Refuse: nobody is sent away and comes back."""
        return Rejected("A Slack hook is connected in one step.", "no_code")


def _place(hook: Secret, base_url: str) -> str | None:
    """Return the team's and the hook's names, which are no secret, or None for another address."""
    parts = split_address(hook.reveal())
    if parts is None:
        return None
    hosts = (base_url.rstrip("/"),) if base_url else HOSTS
    names = parts.path.split("/")
    if f"{parts.scheme}://{parts.netloc}" not in hosts or len(names) != 5 or not all(names[1:]):
        return None
    return f"{names[2]}/{names[3]}" if names[1] == "services" else None
