"""`/u/TOKEN`: recipients unsubscribe, without signing in (RFC 8058).

GET shows a page with one button and changes nothing, as mail scanners open links. POST unsubscribes, by the button or
by the mailbox provider; no cookie, header or redirect is needed, and a repetition is answered the same way.
"""

from typing import Annotated

from fastapi import Path
from starlette.responses import HTMLResponse, Response

from cadenza.api.request_context import Reader
from cadenza.api.routes import ANYONE, Resource
from cadenza.contacts.unsubscribe import PATH, BadToken, read_token, unsubscribe

routes = Resource("unsubscribe", PATH)
Token = Annotated[str, Path(min_length=1, max_length=2_000)]
_HTML = {"text/html": {}}
SHOWN = {
    200: {"description": "A page", "content": _HTML},
    404: {"description": "A page: the link is not one of ours", "content": _HTML},
}
HEADERS = {
    "cache-control": "no-store",
    "x-robots-tag": "noindex",
    "referrer-policy": "same-origin",  # with no-referrer the button's post would come from the origin "null"
}
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>body{{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem}}
button{{font:inherit;padding:.6rem 1.2rem}}</style></head>
<body><h1>{title}</h1>{body}</body></html>
"""
_BUTTON = '<form method="post"><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>'


@routes.get("/{token}", needs=ANYONE, response_class=HTMLResponse, responses=SHOWN)
async def show_unsubscribe(ask: Reader, token: Token) -> Response:
    """Show a page with a button; nothing is changed."""
    if isinstance(read_token(ask.runtime.keyring, token), BadToken):
        return _bad()
    return _page(
        "Unsubscribe", f"<p>Press the button to get no more messages from us here.</p>{_BUTTON}"
    )


@routes.post(
    "/{token}",
    needs=ANYONE,
    takes="upload",
    most=16_384,
    response_class=HTMLResponse,
    responses=SHOWN,
)
async def confirm_unsubscribe(ask: Reader, token: Token) -> Response:
    """Unsubscribe; repeating it changes nothing."""
    subscriber = read_token(ask.runtime.keyring, token)
    if isinstance(subscriber, BadToken):
        return _bad()
    await ask.change(lambda tx, now: unsubscribe(tx, now, subscriber))
    return _page("Unsubscribed", "<p>You will get no more messages from us here.</p>")


def _bad() -> Response:
    text = "<p>This link is not complete. Open it from the message again, whole.</p>"
    return _page("Link not found", text, status=404)


def _page(title: str, body: str, *, status: int = 200) -> Response:
    return HTMLResponse(_PAGE.format(title=title, body=body), status, HEADERS)
