"""Mails to one person: a link for a new password, an invitation. Nobody else is told of them.

They lie in the outbox under kinds `person.*` with their token sealed, and are opened here for the moment
of writing. The token stands behind the `#` of its link, which browsers send to nobody.
"""

from collections.abc import Callable
from datetime import datetime
from html import escape

import msgspec

from cadenza.notices import texts
from cadenza.notices.clean_name import clean_name
from cadenza.notices.model import Email, NoticeBatch
from cadenza.people.change_password import RESET_KIND, email_row, reset_link
from cadenza.people.invite import KIND as INVITE_KIND
from cadenza.people.invite import link as invite_link
from cadenza.providers.http.redact import Secret
from cadenza.sql.tx import Row, Tx

TARGET = "letter"  # stands for the person, who may be no member yet
_PREFIX = "person."


def is_account_email(kind: str) -> bool:
    """Say whether an outbox row is a mail to one person."""
    return kind.startswith(_PREFIX)


def installation_name(tx: Tx, batch: NoticeBatch) -> str:
    """Return the name of the workspace that a letter is about; empty for the application itself."""
    name: str | None = tx.value("SELECT name FROM workspace WHERE id = :id", id=batch.workspace_id)
    return name or ""


def write_account_email(
    batch: NoticeBatch,
    *,
    home: str,
    open_secret: Callable[[str, str], Secret],
    public_url: str,
    now: datetime,
) -> Email:
    """Write the mail of one letter."""
    row = batch.news[0]
    said: dict[str, str] = msgspec.json.decode(row["body"])
    token = open_secret(said["sealed"], email_row(row["id"])).reveal()
    subject, words, address, end = _words(row, home)
    link = address(public_url, token)
    text = f"{words}\n\n{link}\n\n{end}\n"
    html = (
        f"<!doctype html><html><body><p>{escape(words)}</p>"
        f'<p><a href="{escape(link)}">{escape(link)}</a></p><p>{escape(end)}</p></body></html>'
    )
    return Email(
        to=said["to"],
        name=clean_name(said["name"]),
        subject=subject,
        text=text,
        html=html,
        key=batch.key,
        at=now,
    )


def _words(row: Row, home: str) -> tuple[str, str, Callable[[str, str], str], str]:
    if row["kind"] == RESET_KIND:
        return texts.RESET_SUBJECT, texts.RESET, reset_link, texts.RESET_END
    if row["kind"] == INVITE_KIND:
        name = clean_name(home)
        place = f"“{name}”" if name else texts.NO_NAME
        return (
            texts.INVITE_SUBJECT.format(workspace=place),
            texts.INVITE.format(workspace=place),
            invite_link,
            texts.INVITE_END,
        )
    raise ValueError(f"there are no words for a letter of kind {row['kind']!r}")
