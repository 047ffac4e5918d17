"""`/u/TOKEN`: recipients choose what they get, without signing in (RFC 8058).

GET shows their lists with a button for each and one for all, and changes nothing, as mail scanners open links. POST
changes: by a button, or by the mailbox provider, whose one click unsubscribes from everything. No cookie, header or
redirect is needed, and a repetition is answered the same way.
"""

from typing import Annotated
from urllib.parse import parse_qs

from fastapi import Path
from starlette.responses import HTMLResponse, Response

from cadenza.api.public_page import SHOWN, bad_link, button, page, text
from cadenza.api.request_context import ReadContext, Reader
from cadenza.api.routes import ANYONE, Resource
from cadenza.contacts.link_token import BadToken
from cadenza.contacts.preferences import (
    ListChoice,
    Preferences,
    join_list,
    leave_list,
    read_preferences,
    subscribe_again,
)
from cadenza.contacts.unsubscribe import PATH, Subscriber, read_token, unsubscribe

routes = Resource("unsubscribe", PATH)
Token = Annotated[str, Path(min_length=1, max_length=2_000)]
MOST = 16_384


@routes.get("/{token}", needs=ANYONE, response_class=HTMLResponse, responses=SHOWN)
async def show_unsubscribe(ask: Reader, token: Token) -> Response:
    """Show what the recipient gets, with buttons; nothing is changed."""
    who = read_token(ask.runtime.keyring, token)
    if isinstance(who, BadToken):
        return bad_link()
    found = await ask.read(lambda tx, _: read_preferences(tx, who))
    return page("Your messages from us" if found.lists else "Unsubscribe", _choices(found))


@routes.post(
    "/{token}",
    needs=ANYONE,
    takes="upload",
    most=MOST,
    response_class=HTMLResponse,
    responses=SHOWN,
)
async def confirm_unsubscribe(ask: Reader, token: Token) -> Response:
    """Unsubscribe from everything, or change what a button says; repeating it changes nothing."""
    who = read_token(ask.runtime.keyring, token)
    if isinstance(who, BadToken):
        return bad_link()
    asked = await _read_form(ask)
    list_id = asked.get("list", "")
    match asked.get("change"):
        case "leave":
            title = await _change_list(ask, who, list_id, leave=True)
        case "join":
            title = await _change_list(ask, who, list_id, leave=False)
        case "again":
            await ask.change(lambda tx, now: subscribe_again(tx, now, who))
            title = "You're subscribed again"
        case _:
            await ask.change(lambda tx, now: unsubscribe(tx, now, who))
            title = "Unsubscribed"
    found = await ask.read(lambda tx, _: read_preferences(tx, who))
    return page(title, _choices(found))


async def _change_list(ask: ReadContext, who: Subscriber, list_id: str, *, leave: bool) -> str:
    change = leave_list if leave else join_list
    await ask.change(lambda tx, now: change(tx, now, who, list_id))
    return "Unsubscribed from this list" if leave else "You're back on this list"


async def _read_form(ask: ReadContext) -> dict[str, str]:
    """Read the button that was pressed; any other body counts as one click."""
    body = b"".join([piece async for piece in ask.request.stream()])
    if "urlencoded" not in ask.request.headers.get("content-type", ""):
        return {}
    try:
        fields = parse_qs(body.decode(), max_num_fields=20)
    except ValueError:
        return {}
    return {name: values[-1] for name, values in fields.items()}


def _choices(found: Preferences) -> str:
    if not found.subscribed:
        again = button("Subscribe again", change="again")
        return (
            f"<p>You will get no more messages from us here.</p><p>Not what you wanted?</p>{again}"
        )
    one_click = {"List-Unsubscribe": "One-Click"}
    if not found.lists:
        words = "<p>Press the button to get no more messages from us here.</p>"
        return words + button("Unsubscribe", **one_click)
    rows = "".join(_row(each) for each in found.lists)
    every = button("Unsubscribe from everything", **one_click)
    return f"<ul>{rows}</ul><p>Or get no more messages from us here at all.</p>{every}"


def _row(each: ListChoice) -> str:
    if each.subscribed:
        state, words, change = "You get this.", f"Unsubscribe from {each.name}", "leave"
    else:
        state, words, change = "You don't get this.", f"Get {each.name} again", "join"
    act = button(words, change=change, list=each.audience_id)
    return f"<li><strong>{text(each.name)}</strong><br>{state}{act}</li>"
