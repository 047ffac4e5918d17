"""Signing up with double opt-in: a visitor asks, the address's owner confirms, only then is there a contact.

Whatever is known of an address, signing up is answered alike and sends the same mail, so a stranger learns nothing
from it. The mail passes the account's limits, suppression included; an address gets few of them. What the form says
fills gaps of a contact who is there and replaces nothing. Who never confirms is forgotten after a week.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct

from cadenza.accounts.model import read_account
from cadenza.accounts.open import refer
from cadenza.accounts.seal import Keyring
from cadenza.contacts import audiences, fields, store
from cadenza.contacts.addresses import EMAIL, read_address
from cadenza.contacts.audiences import Member
from cadenza.contacts.check import Checked, apply, blank, check
from cadenza.contacts.link_token import BadToken, make_link_token, read_link_token
from cadenza.contacts.model import Address, Consent, Contact, ContactForm, Invalid
from cadenza.contacts.preferences import join_list
from cadenza.contacts.signup_forms import (
    COLUMNS,
    CONFIRM_URL,
    EMAIL_FIELD,
    NoSuchForm,
    SignupForm,
    find_form,
)
from cadenza.contacts.unsubscribe import Subscriber
from cadenza.core.channels import Channel
from cadenza.db.audit import record
from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.deliveries.gates import HURRY
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.schedule import schedule
from cadenza.sql.tx import Tx
from cadenza.sql.values import columns, read_value

PATH = "/f"
EVENT = "contact.subscribed"
TRAP = "website"  # people don't see this field: what is filled in by a program is dropped
LASTS = timedelta(days=7)  # the link to confirm, and what is known of who never does
BETWEEN_MAILS = timedelta(minutes=10)  # to one address
MOST_MAILS = 5  # to one address, while it is not forgotten
MOST_AN_HOUR = 500  # sign-ups by one form
MOST_FORGOTTEN = 1_000
_PURPOSE = "sign-up link"
_BY = "visitor"


class Signup(Struct, frozen=True):
    """A row of `signup`."""

    workspace_id: str
    id: str
    form_id: str
    address: str
    written: str
    answers: str
    consent_text: str
    state: str
    mails: int
    mailed_at: datetime | None
    asked_at: datetime
    confirmed_at: datetime | None


@dataclass(frozen=True, slots=True)
class SignedUp:
    """It is taken; what became of it, a visitor is not told."""


@dataclass(frozen=True, slots=True)
class TooManySignups:
    """So many signed up by this form that it must be a program: try again later."""


@dataclass(frozen=True, slots=True)
class Expired:
    """The link has ended, or its form was deleted: sign up again."""


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The person is a contact and on the list."""

    contact_id: str
    form: SignupForm


_COLUMNS = columns(Signup, "signup")


def sign_up(
    tx: Tx,
    now: datetime,
    form: SignupForm,
    answers: Mapping[str, str],
    *,
    keyring: Keyring,
    home: str,
) -> SignedUp | TooManySignups | list[Invalid]:
    """Take what a visitor filled in, and mail the link to confirm; run it under the workspace's lock of contacts."""
    read = _read(tx, form, answers)
    if not isinstance(read, tuple):
        return read
    if answers.get(TRAP):
        return SignedUp()
    if _last_hour(tx, now, form) >= MOST_AN_HOUR:
        return TooManySignups()
    address, kept = read
    row = tx.one(
        f"""
        INSERT INTO signup (workspace_id, id, form_id, address, written, answers, consent_text, created_at, asked_at)
        VALUES (:workspace_id, :id, :form_id, :address, :written, :answers, :consent_text, :now, :now)
        ON CONFLICT (workspace_id, form_id, address) DO UPDATE SET written = excluded.written,
            answers = excluded.answers, consent_text = excluded.consent_text, asked_at = excluded.asked_at
        RETURNING {_COLUMNS}
        """,  # noqa: S608 - put together from constants
        workspace_id=form.workspace_id,
        id=tx.new_id(),
        form_id=form.id,
        address=address.address,
        written=address.written,
        answers=msgspec.json.encode(kept).decode(),
        consent_text=form.texts.consent,
        now=now,
    )
    assert row is not None, "an upsert returns its row"
    asked = read_value(Signup, row)
    if _may_mail(tx, now, asked):
        _mail(tx, now, form, asked, make_url(keyring, home, asked))
    return SignedUp()


def make_url(keyring: Keyring, home: str, asked: Signup) -> str:
    """Return the address where the person confirms."""
    token = make_link_token(keyring, _PURPOSE, asked.workspace_id, asked.id)
    return f"{home.rstrip('/')}{PATH}/confirm/{token}"


def find_signup(
    tx: Tx, now: datetime, keyring: Keyring, token: str
) -> tuple[Signup, SignupForm] | Expired:
    """Return whom a link names, if it can still be confirmed."""
    found = read_link_token(keyring, _PURPOSE, token)
    if isinstance(found, BadToken):
        return Expired()
    row = tx.one(
        f"SELECT {_COLUMNS} FROM signup WHERE workspace_id = :workspace_id AND id = :id",  # noqa: S608 - constants
        workspace_id=found[0],
        id=found[1],
    )
    if row is None:
        return Expired()
    asked = read_value(Signup, row)
    form = find_form(tx, asked.workspace_id, asked.form_id)
    if isinstance(form, NoSuchForm) or asked.asked_at < now - LASTS:
        return Expired()
    return asked, form


def confirm(tx: Tx, now: datetime, asked: Signup, form: SignupForm) -> Confirmed:
    """Make the person a contact on the list, with consent, date and proof; repeating it changes nothing.

    Run it under the workspace's lock of contacts.
    """
    home = asked.workspace_id
    if asked.state == "confirmed" and asked.confirmed_at is not None:
        there = store.holders(tx, home, [(EMAIL, asked.address)])
        if asked.confirmed_at >= asked.asked_at and there:
            return Confirmed(there[EMAIL, asked.address], form)
    contact = _save(tx, now, asked, form)
    audiences.add_members(
        tx,
        now,
        workspace_id=home,
        audience_id=form.audience_id,
        members=[Member("contact", contact.id)],
    )
    join_list(tx, now, Subscriber(home, EMAIL, asked.address), form.audience_id)
    tx.run(
        """
        UPDATE signup SET state = 'confirmed', confirmed_at = :now, contact_id = :contact_id
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        now=now,
        contact_id=contact.id,
        workspace_id=home,
        id=asked.id,
    )
    after = {"form": form.id, "audience": form.audience_id}
    record(
        tx, now, workspace_id=home, by=_BY, action="contact.subscribe", subject_id=contact.id,
        after=after,
    )  # fmt: skip
    event = OutboxEvent(
        workspace_id=home,
        id=f"subscribed:{tx.new_id()}",
        kind=EVENT,
        subject_id=contact.id,
        body={
            "contact_id": contact.id,
            "address": asked.address,
            "form_id": form.id,
            "audience_id": form.audience_id,
        },
    )
    write_outbox(tx, now, [event])
    return Confirmed(contact.id, form)


def forget_signups(tx: Tx, now: datetime) -> int:
    """Forget who did not confirm within a week; return how many."""
    return tx.run(
        """
        DELETE FROM signup WHERE (workspace_id, id) IN (
            SELECT workspace_id, id FROM signup WHERE state = 'pending' AND asked_at < :before LIMIT :most)
        """,
        before=now - LASTS,
        most=MOST_FORGOTTEN,
    )


def _read(
    tx: Tx, form: SignupForm, answers: Mapping[str, str]
) -> tuple[Address, dict[str, str]] | list[Invalid]:
    """Check what was filled in; other fields than those of the form are left out."""
    given = {each.key: " ".join(answers.get(each.key, "").split()) for each in form.asked}
    wrong = [
        Invalid(each.key, "missing", f"{each.label} is missing")
        for each in form.asked
        if not given[each.key] and (each.required or each.key == EMAIL_FIELD)
    ]
    address = read_address(EMAIL, given[EMAIL_FIELD])
    if isinstance(address, Invalid) and given[EMAIL_FIELD]:
        wrong.append(
            Invalid(EMAIL_FIELD, address.code, "Write one address, such as ada@example.org")
        )
    kept = {key: text for key, text in given.items() if text and key != EMAIL_FIELD}
    labels = {each.key: each.label for each in form.asked}
    said = check(_contact_form(kept), fields.list_fields(tx, form.workspace_id))
    if not isinstance(said, Checked):
        for each in said:
            key = each.column.removeprefix("fields.")
            wrong.append(Invalid(key, each.code, f"{labels.get(key, key)}: {each.message}"))
    return wrong if wrong or isinstance(address, Invalid) else (address, kept)


def _contact_form(kept: Mapping[str, str], **more: Any) -> ContactForm:
    known = {key: kept[key] for key in COLUMNS if key in kept}
    own = {key: text for key, text in kept.items() if key not in known}
    return ContactForm(**known, fields=own, **more)


def _last_hour(tx: Tx, now: datetime, form: SignupForm) -> int:
    count = tx.value(
        """
        SELECT count(*) FROM signup
        WHERE workspace_id = :workspace_id AND form_id = :form_id AND asked_at > :since
        """,
        workspace_id=form.workspace_id,
        form_id=form.id,
        since=now - timedelta(hours=1),
    )
    return int(count or 0)


def _may_mail(tx: Tx, now: datetime, asked: Signup) -> bool:
    """Say whether the address may get one more mail, over all forms of the workspace."""
    row = tx.one(
        """
        SELECT max(mailed_at) AS last_at, sum(mails) AS mails FROM signup
        WHERE workspace_id = :workspace_id AND address = :address AND mailed_at > :since
        """,
        workspace_id=asked.workspace_id,
        address=asked.address,
        since=now - LASTS,
    )
    if row is None or row["last_at"] is None:
        return True
    return row["last_at"] <= now - BETWEEN_MAILS and int(row["mails"]) < MOST_MAILS


def _mail(tx: Tx, now: datetime, form: SignupForm, asked: Signup, url: str) -> None:
    account = read_account(tx, form.workspace_id, form.account_id)
    if account is None:
        return
    content = {
        "subject": form.texts.mail_subject,
        "text": form.texts.mail_text.replace(CONFIRM_URL, url),
    }
    new = NewDelivery(
        id=tx.new_id(),
        workspace_id=form.workspace_id,
        account_id=account.id,
        channel=Channel.EMAIL,
        action=Action.BROADCAST if refer(account).settings.get("bulk") else Action.EMAIL,
        due_at=now,
        not_after_at=now + LASTS,
        content=msgspec.json.encode(content, order="sorted").decode(),
        recipient=asked.written,
        priority=HURRY,
    )
    schedule(tx, now, [new])
    tx.run(
        """
        UPDATE signup SET mails = CASE WHEN mailed_at > :since THEN mails ELSE 0 END + 1, mailed_at = :now
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        now=now,
        since=now - LASTS,
        workspace_id=asked.workspace_id,
        id=asked.id,
    )


def _save(tx: Tx, now: datetime, asked: Signup, form: SignupForm) -> Contact:
    home = asked.workspace_id
    known = fields.list_fields(tx, home)
    kept = msgspec.json.decode(asked.answers, type=dict[str, str])
    proof = (
        f"Signed up by the form {form.name} on {asked.asked_at:%Y-%m-%d %H:%M} UTC and confirmed by mail on "
        f"{now:%Y-%m-%d %H:%M} UTC: {asked.consent_text}"
    )[:2_000]
    holder = store.holders(tx, home, [(EMAIL, asked.address)]).get((EMAIL, asked.address))
    there = None if holder is None else store.load(tx, home, [holder])[holder]
    base = blank(home, tx.new_id(), now) if there is None else there
    more = {"source": form.name, "addresses": [(EMAIL, asked.written)]}
    said = check(_contact_form(kept, **more), known)
    if not isinstance(said, Checked):  # a field was changed since
        said = check(ContactForm(**more), known)
        assert isinstance(said, Checked), "both were checked when they were saved"
    contact = replace(
        apply(base, said, now, add=True, fill=True),
        consent=Consent.GIVEN,
        consent_at=now,
        consent_proof=proof,
        updated_at=now,
    )
    if there is None:
        store.insert(tx, home, [contact], known)
        return contact
    (saved,) = store.update(tx, home, [(there, contact)], known)
    return saved
