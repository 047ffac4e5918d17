"""Sign-up forms: which list people join, what they are asked and what they read; who mails the link to confirm.

A form's address is public and names no workspace. Its texts are plain words: they are escaped wherever they are
shown. Limit: the mail to confirm is plain text, with nothing in it that a visitor typed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from cadenza.accounts.model import read_account
from cadenza.contacts import fields as own_fields
from cadenza.contacts.audiences import Audience, find_audience
from cadenza.contacts.model import Invalid
from cadenza.core.channels import Channel
from cadenza.db.audit import record
from cadenza.deliveries.gates import GONE
from cadenza.providers.registry import all_providers
from cadenza.sql.tx import Row, Tx

MOST_FORMS = 200
MOST_FIELDS = 20
MOST_ORIGINS = 20
CONFIRM_URL = "{{confirm_url}}"
EMAIL_FIELD = "email"
COLUMNS = ("first_name", "last_name", "company", "country", "language")
_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(?::[0-9]{1,5})?")


class SignupField(Struct, frozen=True):
    """One thing that a visitor is asked."""

    key: str  # email, a column of contacts, or a field of the workspace's own
    label: str
    required: bool = False


class SignupTexts(Struct, frozen=True, kw_only=True):
    """What visitors read."""

    title: str = "Sign up"
    intro: str = ""
    consent: str = "I want to get these mails. I can unsubscribe at any time."
    button: str = "Sign up"
    pending: str = "Please open the mail that we have just sent you, and confirm."
    confirm: str = "Press the button to confirm that you want to get these mails."
    confirmed: str = "Thank you. You're subscribed."
    mail_subject: str = "Please confirm"
    mail_text: str = (
        "Please confirm that you want to get our mails:\n\n{{confirm_url}}\n\n"
        "If you didn't sign up, do nothing: you won't hear from us again."
    )


class SignupFormInput(Struct, frozen=True, kw_only=True):
    """A form as its owner wants it."""

    name: str
    audience_id: str
    account_id: str
    active: bool = True
    texts: SignupTexts = SignupTexts()
    fields: tuple[SignupField, ...] = ()
    origins: tuple[str, ...] = ()
    redirect_url: str | None = None
    confirmed_url: str | None = None


class SignupForm(SignupFormInput, frozen=True, kw_only=True):
    """A form as it is kept."""

    workspace_id: str
    id: str
    revision: int
    created_at: datetime
    updated_at: datetime

    @property
    def asked(self) -> tuple[SignupField, ...]:
        """What visitors are asked: always the address, first unless the owner says otherwise."""
        if any(each.key == EMAIL_FIELD for each in self.fields):
            return self.fields
        return (SignupField(EMAIL_FIELD, "Email address", required=True), *self.fields)


@dataclass(frozen=True, slots=True)
class NoSuchForm:
    """The workspace has no such form."""

    id: str


@dataclass(frozen=True, slots=True)
class FormNameTaken:
    """Another form has this name."""

    name: str


@dataclass(frozen=True, slots=True)
class SignupCounts:
    """How many signed up by a form."""

    pending: int
    confirmed: int


def create_form(
    tx: Tx, now: datetime, new: SignupFormInput, *, workspace_id: str, by: str
) -> SignupForm | FormNameTaken | Invalid:
    """Make a form."""
    wrong = _wrong(tx, workspace_id, new)
    if wrong is not None:
        return wrong
    if _named(tx, workspace_id, new.name) is not None:
        return FormNameTaken(new.name)
    most = tx.value(
        "SELECT count(*) FROM signup_form WHERE workspace_id = :workspace_id",
        workspace_id=workspace_id,
    )
    if most is not None and most >= MOST_FORMS:
        return Invalid("name", "too_many", f"at most {MOST_FORMS} forms: delete one")
    id_ = tx.new_id()
    tx.run(
        """
        INSERT INTO signup_form (workspace_id, id, name, audience_id, account_id, active, texts, fields, origins,
            redirect_url, confirmed_url, created_by, created_at, updated_at)
        VALUES (:workspace_id, :id, :name, :audience_id, :account_id, :active, :texts, :fields, :origins,
            :redirect_url, :confirmed_url, :by, :now, :now)
        """,
        workspace_id=workspace_id,
        id=id_,
        by=by,
        now=now,
        **_columns(new),
    )
    record(tx, now, workspace_id=workspace_id, by=by, action="form.create", subject_id=id_)
    return _found(tx, workspace_id, id_)


def change_form(
    tx: Tx, now: datetime, new: SignupFormInput, *, workspace_id: str, form_id: str, by: str
) -> SignupForm | NoSuchForm | FormNameTaken | Invalid:
    """Change a form; who signed up before keeps the texts that they read."""
    there = find_form(tx, workspace_id, form_id)
    if isinstance(there, NoSuchForm):
        return there
    wrong = _wrong(tx, workspace_id, new)
    if wrong is not None:
        return wrong
    if _named(tx, workspace_id, new.name) not in (None, there.id):
        return FormNameTaken(new.name)
    tx.run(
        """
        UPDATE signup_form SET name = :name, audience_id = :audience_id, account_id = :account_id,
            active = :active, texts = :texts, fields = :fields, origins = :origins,
            redirect_url = :redirect_url, confirmed_url = :confirmed_url,
            revision = revision + 1, updated_at = :now
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        workspace_id=workspace_id,
        id=there.id,
        now=now,
        **_columns(new),
    )
    record(tx, now, workspace_id=workspace_id, by=by, action="form.change", subject_id=there.id)
    return _found(tx, workspace_id, there.id)


def delete_form(
    tx: Tx, now: datetime, *, workspace_id: str, form_id: str, by: str
) -> SignupForm | NoSuchForm:
    """Delete a form with its sign-ups; those who confirmed stay contacts, with the proof."""
    there = find_form(tx, workspace_id, form_id)
    if isinstance(there, NoSuchForm):
        return there
    about = {"workspace_id": workspace_id, "id": there.id}
    tx.run("DELETE FROM signup WHERE workspace_id = :workspace_id AND form_id = :id", **about)
    tx.run("DELETE FROM signup_form WHERE workspace_id = :workspace_id AND id = :id", **about)
    record(tx, now, workspace_id=workspace_id, by=by, action="form.delete", subject_id=there.id)
    return there


def find_form(tx: Tx, workspace_id: str, form_id: str) -> SignupForm | NoSuchForm:
    """Return one form of the workspace."""
    row = tx.one(
        "SELECT * FROM signup_form WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=form_id,
    )
    return NoSuchForm(form_id) if row is None else _form(row)


def find_open_form(tx: Tx, form_id: str) -> SignupForm | NoSuchForm:
    """Return the form of a public address, if people can sign up by it."""
    row = tx.one("SELECT * FROM signup_form WHERE id = :id AND active", id=form_id)
    if row is None:
        return NoSuchForm(form_id)
    form = _form(row)
    there = find_audience(tx, form.workspace_id, form.audience_id)
    return form if isinstance(there, Audience) else NoSuchForm(form_id)


def list_forms(tx: Tx, *, workspace_id: str) -> list[SignupForm]:
    """Return the workspace's forms by name."""
    rows = tx.all(
        "SELECT * FROM signup_form WHERE workspace_id = :workspace_id ORDER BY name, id LIMIT :most",
        workspace_id=workspace_id,
        most=MOST_FORMS,
    )
    return [_form(row) for row in rows]


def count_signups(tx: Tx, workspace_id: str, form_ids: Sequence[str]) -> dict[str, SignupCounts]:
    """Count who signed up by these forms."""
    rows = tx.all(
        """
        SELECT s.form_id, s.state, count(*) AS n FROM TABLE(:ids) AS asked (id text)
        JOIN signup s ON s.workspace_id = :workspace_id AND s.form_id = asked.id
        GROUP BY s.form_id, s.state
        """,
        workspace_id=workspace_id,
        ids=[(id_,) for id_ in form_ids],
    )
    found = {(row["form_id"], row["state"]): int(row["n"]) for row in rows}
    return {
        id_: SignupCounts(found.get((id_, "pending"), 0), found.get((id_, "confirmed"), 0))
        for id_ in form_ids
    }


def _wrong(tx: Tx, workspace_id: str, new: SignupFormInput) -> Invalid | None:
    audience = find_audience(tx, workspace_id, new.audience_id)
    if not isinstance(audience, Audience) or audience.kind != "list":
        return Invalid("audience_id", "no_list", "name a list that people join")
    account = read_account(tx, workspace_id, new.account_id)
    provider = None if account is None else all_providers().get(account.provider)
    if account is None or account.state == GONE or provider is None:
        return Invalid("account_id", "no_account", "name an account that sends mail")
    if Channel.EMAIL not in provider.channels:
        return Invalid("account_id", "no_mail", "this account sends no mail: name one that does")
    if CONFIRM_URL not in new.texts.mail_text:
        said = f"write {CONFIRM_URL} where the link to confirm goes"
        return Invalid("texts.mail_text", "no_link", said)
    return _wrong_fields(tx, workspace_id, new) or _wrong_sites(new)


def _wrong_fields(tx: Tx, workspace_id: str, new: SignupFormInput) -> Invalid | None:
    known = {*COLUMNS, EMAIL_FIELD, *own_fields.list_fields(tx, workspace_id)}
    keys = [each.key for each in new.fields]
    if len(keys) > MOST_FIELDS or len(set(keys)) < len(keys):
        return Invalid("fields", "bad_count", f"ask up to {MOST_FIELDS} things, each once")
    for key in keys:
        if key not in known:
            return Invalid("fields", "no_field", f"there is no field {key}: make it first")
    return None


def _wrong_sites(new: SignupFormInput) -> Invalid | None:
    if len(new.origins) > MOST_ORIGINS:
        return Invalid("origins", "too_many", f"name up to {MOST_ORIGINS} sites")
    for origin in new.origins:
        if not _ORIGIN.fullmatch(origin):
            return Invalid("origins", "bad_origin", "write a site as https://www.example.org")
    for name in ("redirect_url", "confirmed_url"):
        url: str | None = getattr(new, name)
        if url is not None and not _is_web_address(url):
            return Invalid(name, "bad_url", "write a web address with https://")
    return None


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and not set(url) & set(" \"'<>;,")
    return plain and parts.scheme in ("http", "https") and bool(parts.hostname)


def _columns(new: SignupFormInput) -> dict[str, object]:
    return {
        "name": new.name,
        "audience_id": new.audience_id,
        "account_id": new.account_id,
        "active": new.active,
        "texts": msgspec.json.encode(new.texts).decode(),
        "fields": msgspec.json.encode(new.fields).decode(),
        "origins": msgspec.json.encode(new.origins).decode(),
        "redirect_url": new.redirect_url,
        "confirmed_url": new.confirmed_url,
    }


def _form(row: Row) -> SignupForm:
    return SignupForm(
        workspace_id=row["workspace_id"],
        id=row["id"],
        name=row["name"],
        audience_id=row["audience_id"],
        account_id=row["account_id"],
        active=bool(row["active"]),
        texts=msgspec.json.decode(row["texts"], type=SignupTexts),
        fields=msgspec.json.decode(row["fields"], type=tuple[SignupField, ...]),
        origins=msgspec.json.decode(row["origins"], type=tuple[str, ...]),
        redirect_url=row["redirect_url"],
        confirmed_url=row["confirmed_url"],
        revision=row["revision"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _found(tx: Tx, workspace_id: str, id_: str) -> SignupForm:
    found = find_form(tx, workspace_id, id_)
    assert isinstance(found, SignupForm), "it was written right now"
    return found


def _named(tx: Tx, workspace_id: str, name: str) -> str | None:
    return tx.value(
        "SELECT id FROM signup_form WHERE workspace_id = :workspace_id AND name = :name",
        workspace_id=workspace_id,
        name=name,
    )
