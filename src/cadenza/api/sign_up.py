"""`/f/FORM`: visitors of any site sign up, without signing in, and confirm by a link that they are mailed.

A sign-up is answered alike whatever is known of the address. It goes by no cookie, so any site's page may send it; a
form that names its sites takes it from their pages alone. The link to confirm shows a page with a button, as mail
scanners open links; the button confirms.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated
from urllib.parse import parse_qs, urlsplit

from fastapi import Path
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from cadenza.api.public_page import SHOWN, button, page, text
from cadenza.api.rate_limit import TokenBucket
from cadenza.api.read_upload import UploadForm
from cadenza.api.request_context import ReadContext, Reader
from cadenza.api.routes import ANYONE, Resource
from cadenza.api.schemas import ID
from cadenza.api.signup_forms import form_html
from cadenza.contacts.model import Invalid, contacts_lock
from cadenza.contacts.sign_up import (
    PATH,
    Confirmed,
    Expired,
    SignedUp,
    TooManySignups,
    confirm,
    find_signup,
    sign_up,
)
from cadenza.contacts.signup_forms import NoSuchForm, SignupForm, find_open_form
from cadenza.core.addresses import owner_of
from cadenza.sql.tx import Tx

routes = Resource("sign_up", PATH)
FormId = Annotated[str, Path(min_length=1, max_length=128, pattern=ID)]
Token = Annotated[str, Path(min_length=1, max_length=2_000)]
MOST = 16_384
_ANSWERS = SHOWN | {
    303: {"description": "On to the form's own page"},
    422: {
        "description": "A page: what to correct; or a problem: the address itself",
        "content": {"text/html": {}, "application/problem+json": {}},
    },
    429: {"description": "A page: try again later", "content": {"text/html": {}}},
}


@routes.get("/confirm/{token}", needs=ANYONE, response_class=HTMLResponse, responses=SHOWN)
async def show_confirm(ask: Reader, token: Token) -> Response:
    """Show a page with a button to confirm; nothing is changed."""
    found = await ask.read(lambda tx, now: find_signup(tx, now, ask.runtime.keyring, token))
    if isinstance(found, Expired):
        return _expired()
    _, form = found
    words = f"<p>{text(form.texts.confirm)}</p>{button('Confirm')}"
    return page(form.texts.title, words, headers=_policy(form))


@routes.post(
    "/confirm/{token}",
    needs=ANYONE,
    takes="upload",
    most=MOST,
    response_class=HTMLResponse,
    responses=_ANSWERS,
)
async def confirm_signup(ask: Reader, token: Token) -> Response:
    """Confirm: the person is a contact and on the list; repeating it changes nothing."""
    keyring = ask.runtime.keyring
    found = await ask.read(lambda tx, now: find_signup(tx, now, keyring, token))
    if isinstance(found, Expired):
        return _expired()
    home = found[0].workspace_id

    def operation(tx: Tx, now: datetime) -> Confirmed | Expired:
        again = find_signup(tx, now, keyring, token)
        return again if isinstance(again, Expired) else confirm(tx, now, *again)

    done = await ask.change(operation, locks=[contacts_lock(home)])
    if isinstance(done, Expired):
        return _expired()
    if done.form.confirmed_url:
        return RedirectResponse(done.form.confirmed_url, 303)
    return page(done.form.texts.title, f"<p role='status'>{text(done.form.texts.confirmed)}</p>")


@routes.get("/{form_id}", needs=ANYONE, response_class=HTMLResponse, responses=SHOWN)
async def show_signup(ask: Reader, form_id: FormId) -> Response:
    """Show the form as a page, which its sites may put into a frame."""
    form = await ask.read(lambda tx, _: find_open_form(tx, form_id))
    if isinstance(form, NoSuchForm):
        return _closed()
    return page(form.texts.title, form_html(form, f"{PATH}/{form.id}"), headers=_policy(form))


@routes.post(
    "/{form_id}",
    needs=ANYONE,
    takes="upload",
    most=MOST,
    from_any_site=True,
    response_class=HTMLResponse,
    responses=_ANSWERS,
)
async def receive_signup(ask: Reader, form_id: FormId) -> Response:
    """Sign up: fields as a form sends them; with `Accept: application/json` the answer is JSON."""
    form = await ask.read(lambda tx, _: find_open_form(tx, form_id))
    if isinstance(form, NoSuchForm):
        return _closed()
    headers = {**_policy(form), **_shared(ask, form)}
    if not _comes_from(ask, form):
        return _answer(ask, 403, "This form is not for that site.", headers)
    bucket: TokenBucket = ask.request.app.state.signup_bucket
    client = ask.request.client
    if bucket.take(owner_of(client.host if client else "unknown")) > 0:
        return _answer(ask, 429, "That is too much at once: try again in a minute.", headers)
    answers = await _read_answers(ask)
    runtime = ask.runtime
    done = await ask.change(
        lambda tx, now: sign_up(
            tx, now, form, answers, keyring=runtime.keyring, home=runtime.settings.home
        ),
        locks=[contacts_lock(form.workspace_id)],
    )
    match done:
        case SignedUp():
            if form.redirect_url and not _wants_json(ask):
                return RedirectResponse(form.redirect_url, 303, headers)
            return _answer(ask, 200, form.texts.pending, headers, title=form.texts.title)
        case TooManySignups():
            return _answer(ask, 429, "Too many sign up right now: try again later.", headers)
        case wrong:
            return _refused(ask, wrong, headers)


def _refused(ask: ReadContext, wrong: list[Invalid], headers: Mapping[str, str]) -> Response:
    if _wants_json(ask):
        told = [{"field": each.column, "message": each.message} for each in wrong]
        return JSONResponse({"message": "Check what you filled in.", "errors": told}, 422, headers)
    rows = "".join(f"<li>{text(each.message)}</li>" for each in wrong)
    words = f"<ul role='alert'>{rows}</ul><p>Go back and correct it.</p>"
    return page("Check what you filled in", words, status=422, headers=headers)


def _answer(
    ask: ReadContext, status: int, words: str, headers: Mapping[str, str], *, title: str = ""
) -> Response:
    if _wants_json(ask):
        return JSONResponse({"message": words}, status, headers)
    body = f"<p role='status'>{text(words)}</p>"
    return page(title or "Not signed up", body, status=status, headers=headers)


def _wants_json(ask: ReadContext) -> bool:
    return "application/json" in ask.request.headers.get("accept", "")


async def _read_answers(ask: ReadContext) -> dict[str, str]:
    """Read the fields of a form, encoded in either way that browsers have; anything else has none."""
    kind = ask.request.headers.get("content-type", "")
    if kind.startswith("multipart/form-data"):
        upload = UploadForm(ask.request)
        await upload.find_file("no file is taken")
        return upload.fields
    body = b"".join([piece async for piece in ask.request.stream()])
    try:
        fields = parse_qs(body.decode(), max_num_fields=100)
    except ValueError:
        return {}
    return {name: values[-1] for name, values in fields.items()}


def _comes_from(ask: ReadContext, form: SignupForm) -> bool:
    """Say whether the form's sites, or our own page of it, sent this; programs name no site."""
    origin = ask.request.headers.get("origin")
    own = urlsplit(ask.runtime.settings.home)
    mine = (f"{own.scheme}://{own.netloc}", str(ask.request.base_url).rstrip("/"))
    return origin is None or not form.origins or origin in form.origins or origin in mine


def _shared(ask: ReadContext, form: SignupForm) -> dict[str, str]:
    """Let a page's script read the answer, where the form's sites are served."""
    origin = ask.request.headers.get("origin")
    if origin is None or (form.origins and origin not in form.origins):
        return {}
    return {"access-control-allow-origin": origin if form.origins else "*", "vary": "origin"}


def _policy(form: SignupForm) -> dict[str, str]:
    """Let the form's sites frame its pages, and let its button lead on to where its owner says."""
    sites = " ".join(form.origins) or "*"
    onward = {
        f"{parts.scheme}://{parts.netloc}"
        for url in (form.redirect_url, form.confirmed_url)
        if url is not None
        for parts in [urlsplit(url)]
    }
    actions = " ".join(["'self'", *sorted(onward)])
    return {
        "content-security-policy": (
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
            f"form-action {actions}; frame-ancestors 'self' {sites}"
        ),
        "cross-origin-resource-policy": "cross-origin",
    }


def _closed() -> Response:
    return page("Form not found", "<p>Nobody can sign up here any more.</p>", status=404)


def _expired() -> Response:
    words = "<p>This link has ended, or it is not complete. Open it from the mail, or sign up again.</p>"
    return page("Link not found", words, status=404)
