"""Write the email of a notice: a subject, a text, and the same as HTML. Its sentences are in `texts`.

Everything that people or networks wrote is escaped for HTML; headers hold one line. No template
language: the mails are short lists, and there is one frame.
"""

from collections.abc import Sequence
from datetime import datetime
from html import escape
from typing import Any

import msgspec

from cadenza.core.zones import get_zone, local
from cadenza.notices import texts
from cadenza.notices.model import Email, NoticeBatch
from cadenza.sql.tx import Row

SHOWN = 50  # things that one mail lists
EXCERPT = 80
COUNTED = ("total", "sent", "failed", "skipped", "unconfirmed")  # of a campaign

_FRAME = """<!doctype html>
<html><body style="font-family: sans-serif; line-height: 1.5; max-width: 40em">
<h1 style="font-size: 1.2em">{title}</h1>
{body}
<p style="color: #555; font-size: .9em">{choose}</p>
</body></html>
"""


def write(
    batch: NoticeBatch, *, to: str, name: str, home: str, public_url: str, now: datetime
) -> Email:
    """Write the mail for what is told together; `home` is the workspace's name."""
    title, lines = _words(batch, public_url)
    settings = f"{public_url}/settings/notices"
    text = "\n".join([title, "", *(f"- {line}" for line, _ in lines), ""])
    text += f"\n{texts.SETTINGS.format(settings=settings)}\n"
    items = "".join(f"<li>{html}</li>\n" for _, html in lines)
    choose = texts.SETTINGS.format(settings=f'<a href="{escape(settings)}">{escape(settings)}</a>')
    html = _FRAME.format(title=escape(title), body=f"<ul>\n{items}</ul>", choose=choose)
    return Email(
        to=to,
        name=name,
        subject=_one_line(f"[{home}] {title}"),
        text=text,
        html=html,
        key=batch.key,
        at=now,
    )


def _words(batch: NoticeBatch, public_url: str) -> tuple[str, list[tuple[str, str]]]:
    news = batch.news
    kinds = {row["kind"] for row in news}
    lines = [_line(row, public_url) for row in news[:SHOWN]]
    if len(news) > SHOWN:
        more = texts.MORE.format(count=len(news) - SHOWN)
        lines.append((more, more))
    if kinds == {"account.needs_reconnect"}:
        return _account_title(news[-1]), lines
    if kinds == {"account.expiring"}:
        return texts.EXPIRING.format(account=_who(news[-1]), time=_end_of(news[-1])), lines
    if kinds == {"account.suspended"}:
        return texts.SUSPENDED.format(account=_who(news[-1])), lines
    if kinds == {"account.limited"}:
        return texts.LIMITED.format(account=_who(news[-1])), lines
    if kinds == {"campaign.paused"}:
        return texts.CAMPAIGN_PAUSED.format(campaign=_name_of(news[-1])), lines
    if kinds == {"campaign.completed"}:
        said = msgspec.json.decode(news[-1]["body"])
        title = texts.CAMPAIGN_COMPLETED
        return title.format(campaign=_name_of(news[-1]), **_counted(said)), lines
    if kinds == {"installation.held"}:
        return texts.HELD, lines
    if kinds == {"queue.dry"}:
        return texts.QUEUE_DRY.format(account=_who(news[-1])), lines
    if kinds <= {"delivery.failed", "delivery.missed", "delivery.unconfirmed"}:
        title = texts.UNCONFIRMED if kinds == {"delivery.unconfirmed"} else texts.NOT_PUBLISHED
        return title.format(post=_what(news[0]), channels=_channels(news)), lines
    if kinds <= {"delivery.at_risk", "delivery.unapproved"}:
        title = texts.UNAPPROVED if kinds == {"delivery.unapproved"} else texts.AT_RISK
        return title.format(post=_what(news[0]), channels=_channels(news)), lines
    if kinds == {"delivery.sent"}:
        title = texts.PUBLISHED_MANY if len(news) > 1 else texts.PUBLISHED
        return title.format(count=len(news)), lines
    return texts.MIXED.format(count=len(news)), lines


def _channels(news: Sequence[Row]) -> str:
    return ", ".join(sorted({row["channel"] for row in news if row["channel"]}))


def _account_title(row: Row) -> str:
    again = msgspec.json.decode(row["body"]).get("reminder")
    return (texts.RECONNECT_REMINDER if again else texts.RECONNECT).format(account=_who(row))


def _who(row: Row) -> str:
    said = msgspec.json.decode(row["body"])
    return f"{said.get('handle') or row['subject_id']} ({said.get('provider')})"


def _end_of(row: Row) -> str:
    said = msgspec.json.decode(row["body"])
    return _local(said["ends_at"], said.get("zone"))


def _local(at: str, zone: str | None) -> str:
    """Tell an instant on the account's clock, with the zone's name; without one, in UTC."""
    known = get_zone(zone or "UTC")
    told = local(datetime.fromisoformat(at), known)
    return f"{told:%A %-d %B %Y, %H:%M} {known.name}"


def _reconnect(reason: object, waiting: int) -> str:
    if waiting == 0:
        return texts.LINE_RECONNECT.format(reason=reason)
    line = texts.LINE_RECONNECT_ONE if waiting == 1 else texts.LINE_RECONNECT_MANY
    return line.format(reason=reason, count=waiting)


def _line(row: Row, public_url: str) -> tuple[str, str]:
    said = msgspec.json.decode(row["body"])
    if row["kind"] == "account.needs_reconnect":
        link = f"{public_url}/accounts/{row['subject_id']}/reconnect"
        words = _reconnect(said.get("reason"), said.get("held") or 0)
    elif row["kind"] == "account.expiring":
        link = f"{public_url}/accounts/{row['subject_id']}/reconnect"
        words = texts.LINE_EXPIRING.format(time=_end_of(row))
    elif row["kind"] == "account.suspended":
        link = f"{public_url}/accounts/{row['subject_id']}"
        words = texts.LINE_SUSPENDED.format(reason=said.get("reason"))
    elif row["kind"] == "account.limited":
        link = f"{public_url}/accounts/{row['subject_id']}"
        words = texts.LINE_LIMITED.format(reason=said.get("reason"))
    elif row["kind"] == "campaign.paused":
        link = f"{public_url}/campaigns/{row['subject_id']}"
        words = _paused(said)
    elif row["kind"] == "campaign.completed":
        link = f"{public_url}/campaigns/{row['subject_id']}"
        words = texts.LINE_CAMPAIGN_COMPLETED.format(**_counted(said))
    elif row["kind"] == "installation.held":
        link = public_url
        words = texts.LINE_HELD.format(reason=said.get("reason"))
    elif row["kind"] == "queue.dry":
        link = f"{public_url}/accounts/{row['subject_id']}/queue"
        words = (
            texts.LINE_QUEUE_LAST.format(time=_local(said["last_at"], said.get("zone")))
            if said.get("last_at")
            else texts.LINE_QUEUE_EMPTY
        )
    else:
        link = said.get("url") or f"{public_url}/deliveries/{row['subject_id']}"
        line = texts.LINE_DELIVERY_REASON if said.get("reason") else texts.LINE_DELIVERY
        words = line.format(
            post=_what(row),
            channel=row["channel"],
            account=row["handle"] or row["account_id"],
            state=said.get("state"),
            reason=said.get("reason"),
        )
    return f"{words}{link}", f'{escape(words)}<a href="{escape(_safe(link))}">{escape(link)}</a>'


def _name_of(row: Row) -> str:
    return f"“{msgspec.json.decode(row['body']).get('name')}”"


def _counted(said: dict[str, Any]) -> dict[str, Any]:
    return {name: said.get(name, 0) for name in COUNTED}


def _paused(said: dict[str, Any]) -> str:
    if said.get("resumes_at") is None:
        return texts.LINE_CAMPAIGN_PAUSED.format(reason=said.get("reason"))
    at = _local(said["resumes_at"], said.get("zone"))
    return texts.LINE_CAMPAIGN_RESUMES.format(reason=said.get("reason"), time=at)


def _what(row: Row) -> str:
    content = msgspec.json.decode(row["content"]) if row["content"] else {}
    said = " ".join(str(content.get("subject") or content.get("text") or "").split())
    if not said:
        return texts.NO_TEXT
    return f"“{said[:EXCERPT]}…”" if len(said) > EXCERPT else f"“{said}”"


def _safe(link: str) -> str:
    """A network's answer must not bring a script into a mail."""
    return link if link.startswith(("https://", "http://")) else "#"


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
