"""Connect Facebook pages: one sign-in brings every page that the person opens to us."""

from collections.abc import Mapping
from typing import Any

from cadenza.providers.connect import Connected, Connecting, Field, Redirect
from cadenza.providers.facebook.errors import TABLE
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.providers.meta.graph import FACEBOOK
from cadenza.providers.meta.signin import (
    NO_APP,
    SignInDialog,
    facebook_dialog,
    page_tokens,
    pages,
    user_token,
)
from cadenza.providers.outcome import Forbidden, Outcome, Rejected

# The last is for first comments; without it they end in a note.
SCOPES = (
    *("pages_show_list", "pages_read_engagement", "pages_manage_posts"),
    "pages_manage_engagement",
)
FIELDS = "id,name,access_token,tasks"
TASK = "CREATE_CONTENT"


class FacebookConnector:
    """Sign in with Facebook, then take its pages."""

    fields: tuple[Field, ...] = ()

    async def begin(self, connecting: Connecting) -> Redirect | tuple[Connected, ...] | Outcome:
        """Say where to send the person."""
        if not connecting.app.client_id:
            return Rejected(NO_APP, "no_app")
        return Redirect(facebook_dialog(connecting, SCOPES))

    async def complete(
        self, connecting: Connecting, keep: Mapping[str, Secret], code: Secret
    ) -> tuple[Connected, ...] | Outcome:
        """Exchange the code, then list the pages with their own tokens."""
        app = connecting.app
        door = SignInDialog(connecting.http, app, connecting.now, TABLE, app.base_url or FACEBOOK)
        user = await user_token(door, code, connecting.redirect_uri)
        if not isinstance(user, Tokens):
            return user
        found = await pages(door, user.access, FIELDS)
        if not isinstance(found, list):
            return found
        usable = [page for page in found if _may_post(page)]
        if not usable:
            message = "No page was opened to us: choose pages that you may post for, and try again."
            return Forbidden(message, "no_pages")
        return tuple(
            Connected(
                remote_id=str(page["id"]),
                handle=str(page.get("name") or page["id"]),
                name=str(page.get("name") or page["id"]),
                tokens=page_tokens(user, Secret(str(page["access_token"]))),
                kind="page",
            )
            for page in usable
        )


def _may_post(page: Mapping[str, Any]) -> bool:
    """Say whether the person may post there; a page that names no tasks is tried."""
    tasks = page.get("tasks")
    return TASK in tasks if isinstance(tasks, list) else True
