"""Connect Instagram's professional accounts, by Instagram's own sign-in or by Facebook's.

Instagram's is the plain way: one account, a token of sixty days. With the app's option `login` set to
`facebook` the person signs in there, and every page with an Instagram account behind it is connected.
"""

from collections.abc import Mapping

from cadenza.providers.connect import Connected, Connecting, Field, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.instagram.errors import TABLE
from cadenza.providers.instagram.publish import INSTAGRAM, LOGIN, PAGE
from cadenza.providers.message import Tokens
from cadenza.providers.meta.graph import FACEBOOK
from cadenza.providers.meta.longlived import exchange_code, lengthen
from cadenza.providers.meta.signin import (
    NO_APP,
    SignInDialog,
    dialog,
    facebook_dialog,
    page_tokens,
    pages,
    user_token,
)
from cadenza.providers.outcome import Forbidden, Outcome, Rejected
from cadenza.providers.reply import HttpSuccess

API = "https://api.instagram.com"
WWW = "https://www.instagram.com"
# The last of each row is for first comments; without it they end in a note.
SCOPES = (
    *("instagram_business_basic", "instagram_business_content_publish"),
    "instagram_business_manage_comments",
)
BY_FACEBOOK = (
    *("instagram_basic", "instagram_content_publish", "instagram_manage_comments"),
    *("pages_show_list", "pages_read_engagement"),
)
TWIN = "instagram_business_account"
FIELDS = f"id,name,access_token,{TWIN}{{id,username}}"


class InstagramConnector:
    """Sign in with Instagram, or with Facebook."""

    fields: tuple[Field, ...] = ()

    async def begin(self, connecting: Connecting) -> Redirect | tuple[Connected, ...] | Outcome:
        """Say where to send the person."""
        app = connecting.app
        if not app.client_id:
            return Rejected(NO_APP, "no_app")
        if _by_facebook(connecting):
            return Redirect(facebook_dialog(connecting, BY_FACEBOOK))
        www = (app.options.get("www") or WWW).rstrip("/")
        return Redirect(dialog(connecting, f"{www}/oauth/authorize", SCOPES))

    async def complete(
        self, connecting: Connecting, keep: Mapping[str, Secret], code: Secret
    ) -> tuple[Connected, ...] | Outcome:
        """Exchange the code, make its token long, and ask who it is."""
        if _by_facebook(connecting):
            return await _pages(connecting, code)
        app = connecting.app
        door = SignInDialog(connecting.http, app, connecting.now, TABLE, app.base_url or INSTAGRAM)
        url = f"{(app.options.get('api') or API).rstrip('/')}/oauth/access_token"
        short = await exchange_code(door, url, code, connecting.redirect_uri)
        if not isinstance(short, Secret):
            return short
        tokens = await lengthen(door, short, "ig_exchange_token")
        if not isinstance(tokens, Tokens):
            return tokens
        got = await door.read(tokens.access, "me", {"fields": "user_id,username"})
        if not isinstance(got, HttpSuccess):
            return got
        remote_id, handle = got.text("user_id"), got.text("username")
        if remote_id is None or handle is None:
            return Rejected("Instagram did not say who signed in.", "no_account")
        return (_account(remote_id, handle, tokens, {LOGIN: "instagram"}),)


async def _pages(connecting: Connecting, code: Secret) -> tuple[Connected, ...] | Outcome:
    app = connecting.app
    base = app.options.get("facebook") or FACEBOOK
    door = SignInDialog(connecting.http, app, connecting.now, TABLE, base)
    user = await user_token(door, code, connecting.redirect_uri)
    if not isinstance(user, Tokens):
        return user
    found = await pages(door, user.access, FIELDS)
    if not isinstance(found, list):
        return found
    twins = [(page, page.get(TWIN)) for page in found]
    accounts = [(page, twin) for page, twin in twins if isinstance(twin, dict) and twin.get("id")]
    if not accounts:
        message = (
            "None of your pages has a professional Instagram account: link one, and try again."
        )
        return Forbidden(message, "no_accounts")
    return tuple(
        _account(
            str(twin["id"]),
            str(twin.get("username") or twin["id"]),
            page_tokens(user, Secret(str(page["access_token"]))),
            {LOGIN: "facebook", PAGE: str(page["id"])},
        )
        for page, twin in accounts
    )


def _account(remote_id: str, handle: str, tokens: Tokens, settings: dict[str, str]) -> Connected:
    return Connected(
        remote_id=remote_id, handle=f"@{handle}", name=handle, tokens=tokens, settings=settings
    )


def _by_facebook(connecting: Connecting) -> bool:
    return connecting.app.options.get("login") == "facebook"
