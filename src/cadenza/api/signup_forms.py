"""Sign-up forms of a workspace, with the HTML to put on a site; visitors use `api/sign_up.py`."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from pydantic import ConfigDict, Field, StringConstraints

from cadenza.api.contact_schemas import refuse_invalid
from cadenza.api.problems import Problem, conflict, not_found
from cadenza.api.public_page import text
from cadenza.api.request_context import ReadContext, Reader, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id, IdField, InputModel, Line
from cadenza.contacts import signup_forms
from cadenza.contacts.model import Invalid, contacts_lock
from cadenza.contacts.sign_up import PATH, TRAP
from cadenza.contacts.signup_forms import (
    EMAIL_FIELD,
    FormNameTaken,
    NoSuchForm,
    SignupCounts,
    SignupForm,
    SignupFormInput,
)
from cadenza.people.model import Role
from cadenza.sql.tx import Tx

routes = Resource("signup_forms", "/workspaces/{workspace_id}/signup-forms")
Words = Annotated[str, StringConstraints(max_length=2_000, strip_whitespace=True)]
Url = Annotated[str, StringConstraints(max_length=500, strip_whitespace=True)]
_AUTOCOMPLETE = {
    "email": "email",
    "first_name": "given-name",
    "last_name": "family-name",
    "company": "organization",
    "country": "country",
    "language": "language",
}
_USUAL = signup_forms.SignupTexts()


class SignupFieldModel(InputModel):
    """One thing that a visitor is asked."""

    key: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")] = Field(
        description="first_name, last_name, company, country, language, or a field of your own"
    )
    label: Line
    required: bool = False


class SignupTextsModel(InputModel):
    """What visitors read; plain words."""

    title: Line = _USUAL.title
    intro: Words = _USUAL.intro
    consent: Words = Field(default=_USUAL.consent, description="Kept as proof with each sign-up")
    button: Line = _USUAL.button
    pending: Words = Field(default=_USUAL.pending, description="After signing up")
    confirm: Words = Field(default=_USUAL.confirm, description="Above the button that confirms")
    confirmed: Words = Field(default=_USUAL.confirmed, description="After confirming")
    mail_subject: Line = _USUAL.mail_subject
    mail_text: Words = Field(
        default=_USUAL.mail_text, description="Plain text, with {{confirm_url}} where the link goes"
    )


class SignupFormModel(InputModel):
    """A form, as a whole."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"name": "Newsletter", "audience_id": "a", "account_id": "b"}]
        }
    )
    name: Line
    audience_id: IdField = Field(description="The list that people join")
    account_id: IdField = Field(description="The account that mails the link to confirm")
    active: bool = Field(default=True, description="Not active: nobody can sign up")
    texts: SignupTextsModel = SignupTextsModel()
    fields: list[SignupFieldModel] = Field(
        default=[], max_length=signup_forms.MOST_FIELDS, description="Asked besides the address"
    )
    origins: list[Url] = Field(
        default=[],
        max_length=signup_forms.MOST_ORIGINS,
        description="Sites that may show it, such as https://www.example.org; none: every site",
    )
    redirect_url: Url | None = Field(default=None, description="Where visitors go on")
    confirmed_url: Url | None = Field(default=None, description="Where they go on after confirming")

    def read(self) -> SignupFormInput:
        """Return it as operations take it."""
        return msgspec.convert(self.model_dump(), SignupFormInput)


class SignupFormView(Answer):
    """A form, what to put on a site, and how many signed up by it."""

    id: str
    name: str
    audience_id: str
    account_id: str
    active: bool
    texts: SignupTextsModel
    fields: list[SignupFieldModel]
    origins: list[str]
    redirect_url: str | None
    confirmed_url: str | None
    revision: int
    created_at: datetime
    updated_at: datetime
    url: str = Field(description="The form as a page of its own")
    html: str = Field(description="The form as HTML, to put on a site and to style there")
    iframe: str = Field(description="The form in a frame, to put on a site")
    pending: int = Field(description="Who signed up and has not confirmed yet")
    confirmed: int


class SignupFormDeleted(Answer):
    """It is deleted; who confirmed stays a contact."""

    id: str


@routes.get(needs=Role.VIEWER, scope="contacts:read")
async def list_signup_forms(ask: Reader, workspace_id: Id) -> list[SignupFormView]:
    """List sign-up forms."""

    def operation(tx: Tx, _: datetime) -> list[SignupFormView]:
        found = signup_forms.list_forms(tx, workspace_id=workspace_id)
        counts = signup_forms.count_signups(tx, workspace_id, [each.id for each in found])
        return [_view(ask, each, counts[each.id]) for each in found]

    return await ask.read(operation)


@routes.post(needs=Role.EDITOR, scope="contacts:write", status_code=201)
async def create_signup_form(
    act: Writer, workspace_id: Id, body: SignupFormModel
) -> SignupFormView:
    """Make a sign-up form; the answer holds the HTML to put on a site."""
    act.check_account(body.account_id)

    def operation(tx: Tx, now: datetime) -> SignupFormView:
        made = signup_forms.create_form(tx, now, body.read(), workspace_id=workspace_id, by=act.by)
        return act.tag(_saved(act, tx, made))

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.get("/{form_id}", needs=Role.VIEWER, scope="contacts:read")
async def show_signup_form(ask: Reader, workspace_id: Id, form_id: Id) -> SignupFormView:
    """Show a sign-up form with the HTML to put on a site."""
    return ask.tag(
        await ask.read(
            lambda tx, _: _saved(ask, tx, signup_forms.find_form(tx, workspace_id, form_id))
        )
    )


@routes.put("/{form_id}", needs=Role.EDITOR, scope="contacts:write")
async def change_signup_form(
    act: Writer, workspace_id: Id, form_id: Id, body: SignupFormModel
) -> SignupFormView:
    """Change a sign-up form as a whole."""
    act.check_account(body.account_id)

    def operation(tx: Tx, now: datetime) -> SignupFormView:
        act.check_match(_saved(act, tx, signup_forms.find_form(tx, workspace_id, form_id)))
        changed = signup_forms.change_form(
            tx, now, body.read(), workspace_id=workspace_id, form_id=form_id, by=act.by
        )
        return act.tag(_saved(act, tx, changed))

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.delete("/{form_id}", needs=Role.EDITOR, scope="contacts:write")
async def delete_signup_form(act: Writer, workspace_id: Id, form_id: Id) -> SignupFormDeleted:
    """Delete a sign-up form; who confirmed stays a contact."""

    def operation(tx: Tx, now: datetime) -> SignupFormDeleted:
        gone = signup_forms.delete_form(
            tx, now, workspace_id=workspace_id, form_id=form_id, by=act.by
        )
        if isinstance(gone, NoSuchForm):
            raise not_found("sign-up form")
        return SignupFormDeleted(id=gone.id)

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


def form_html(form: SignupForm, action: str) -> str:
    """Write the form as HTML that needs no script and no style."""
    rows = "".join(_row(each.key, each.label, required=each.required) for each in form.asked)
    words = form.texts
    intro = f"<p>{text(words.intro)}</p>" if words.intro else ""
    # Out of sight, and not by `display: none`, which programs look for.
    trap = (
        '<div style="position:absolute;left:-100vw;width:1px;height:1px;overflow:hidden" aria-hidden="true">'
        f'<label>Leave this empty <input name="{TRAP}" tabindex="-1" autocomplete="off"></label></div>'
    )
    consent = f"<p>{text(words.consent)}</p>" if words.consent else ""
    return (
        f'<form action="{text(action)}" method="post">{intro}{rows}{trap}{consent}'
        f"<p><button>{text(words.button)}</button></p></form>"
    )


def _row(key: str, label: str, *, required: bool) -> str:
    kind = "email" if key == EMAIL_FIELD else "text"
    hint = f' autocomplete="{_AUTOCOMPLETE[key]}"' if key in _AUTOCOMPLETE else ""
    must = " required" if required or key == EMAIL_FIELD else ""
    box = f'<input type="{kind}" name="{text(key)}" maxlength="254"{hint}{must}>'
    return f"<p><label>{text(label)}<br>{box}</label></p>"


def _saved(
    ask: ReadContext, tx: Tx, answer: SignupForm | NoSuchForm | FormNameTaken | Invalid
) -> SignupFormView:
    if not isinstance(answer, SignupForm):
        raise _refuse(answer)
    counts = signup_forms.count_signups(tx, answer.workspace_id, [answer.id])
    return _view(ask, answer, counts[answer.id])


def _refuse(answer: NoSuchForm | FormNameTaken | Invalid) -> Problem:
    match answer:
        case NoSuchForm():
            return not_found("sign-up form")
        case FormNameTaken():
            return conflict("name_taken", "There is a form of that name: choose another.")
        case Invalid():
            return refuse_invalid([answer])


def _view(ask: ReadContext, form: SignupForm, counts: SignupCounts) -> SignupFormView:
    url = f"{ask.runtime.settings.home.rstrip('/')}{PATH}/{form.id}"
    known: dict[str, Any] = msgspec.to_builtins(form, builtin_types=(datetime,))
    known.pop("workspace_id")
    title = text(form.texts.title)
    return SignupFormView(
        **known,
        url=url,
        html=form_html(form, url),
        iframe=f'<iframe src="{text(url)}" title="{title}" width="100%" height="420"></iframe>',
        pending=counts.pending,
        confirmed=counts.confirmed,
    )
