"""The words of all mails, in one place: a subject, a text, and the same as HTML.

Everything that people or networks wrote is escaped for HTML; headers hold one line. No template
language: the mails are short lists, and there is one frame.
"""

from datetime import datetime
from html import escape

import msgspec

from cadenza.core.zones import get_zone, local
from cadenza.notices.model import Email, NoticeBatch
from cadenza.sql.tx import Row

SHOWN = 50  # things that one mail lists
EXCERPT = 80

_FRAME = """<!doctype html>
<html><body style="font-family: sans-serif; line-height: 1.5; max-width: 40em">
<h1 style="font-size: 1.2em">{title}</h1>
{body}
<p style="color: #555; font-size: .9em">You can choose what you hear of:
<a href="{settings}">{settings}</a></p>
</body></html>
"""


def write(
    batch: NoticeBatch, *, to: str, name: str, home: str, public_url: str, now: datetime
) -> Email:
    """Write the mail for what is told together; `home` is the workspace's name."""
    title, lines = _words(batch, public_url)
    settings = f"{public_url}/settings/notices"
    text = "\n".join([title, "", *(f"- {line}" for line, _ in lines), ""])
    text += f"\nYou can choose what you hear of: {settings}\n"
    items = "".join(f"<li>{html}</li>\n" for _, html in lines)
    html = _FRAME.format(title=escape(title), body=f"<ul>\n{items}</ul>", settings=escape(settings))
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
        more = f"and {len(news) - SHOWN} more"
        lines.append((more, more))
    if kinds == {"account.needs_reconnect"}:
        return _account_title(news[-1]), lines
    if kinds == {"account.expiring"}:
        return f"Connect {_who(news[-1])} again by {_end_of(news[-1])}", lines
    if kinds == {"account.suspended"}:
        return f"{_who(news[-1])} is suspended", lines
    if kinds == {"installation.held"}:
        return "All sending is held", lines
    if kinds == {"queue.dry"}:
        return f"The queue of {_who(news[-1])} runs dry", lines
    if kinds <= {"delivery.failed", "delivery.missed", "delivery.unconfirmed"}:
        channels = ", ".join(sorted({row["channel"] for row in news if row["channel"]}))
        doubtful = kinds == {"delivery.unconfirmed"}
        words = "needs a look on" if doubtful else "could not be published on"
        return f"{_what(news[0])} {words} {channels}", lines
    if kinds <= {"delivery.at_risk", "delivery.unapproved"}:
        channels = ", ".join(sorted({row["channel"] for row in news if row["channel"]}))
        unseen = kinds == {"delivery.unapproved"}
        words = "waits for an approval to go out on" if unseen else "may not go out on"
        return f"{_what(news[0])} {words} {channels}", lines
    if kinds == {"delivery.sent"}:
        count = len(news)
        return (f"{count} posts were published" if count > 1 else "Published"), lines
    return f"{len(news)} things happened", lines


def _account_title(row: Row) -> str:
    again = "still needs" if msgspec.json.decode(row["body"]).get("reminder") else "needs"
    return f"{_who(row)} {again} to be connected again"


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


def _waiting(many: int) -> str:
    posts = "1 post waits" if many == 1 else f"{many} posts wait"
    return (
        f"{posts} for it and can't get lost: nothing is sent until you connect it again, "
        "and then you choose what happens to those whose time has passed."
    )


def _line(row: Row, public_url: str) -> tuple[str, str]:
    said = msgspec.json.decode(row["body"])
    if row["kind"] == "account.needs_reconnect":
        link = f"{public_url}/accounts/{row['subject_id']}/reconnect"
        held = f" {_waiting(said['held'])}" if said.get("held") else ""
        words = f"{said.get('reason')}.{held} Connect it again: "
    elif row["kind"] == "account.expiring":
        link = f"{public_url}/accounts/{row['subject_id']}/reconnect"
        words = (
            f"Its connection ends on {_end_of(row)}, and the network lets nobody but you renew it. "
            "Posts that are due later wait until it is connected again. Connect it again: "
        )
    elif row["kind"] == "account.suspended":
        link = f"{public_url}/accounts/{row['subject_id']}"
        words = f"{said.get('reason')}. Nothing is sent with it until somebody says so: "
    elif row["kind"] == "installation.held":
        link = public_url
        words = (
            f"{said.get('reason')}. Nothing is sent until an owner of the installation has looked and confirms, "
            "on the System screen or with `cadenza db confirm`: "
        )
    elif row["kind"] == "queue.dry":
        link = f"{public_url}/accounts/{row['subject_id']}/queue"
        last = (
            f"Its last post goes out {_local(said['last_at'], said.get('zone'))}."
            if said.get("last_at")
            else "It is empty."
        )
        words = f"{last} Add some: "
    else:
        link = said.get("url") or f"{public_url}/deliveries/{row['subject_id']}"
        reason = f": {said['reason']}" if said.get("reason") else ""
        state = "unconfirmed" if said.get("state") == "unconfirmed" else said.get("state")
        words = f"{_what(row)} on {row['channel']} by {row['handle'] or row['account_id']}: {state}{reason} "
    return f"{words}{link}", f'{escape(words)}<a href="{escape(_safe(link))}">{escape(link)}</a>'


def _what(row: Row) -> str:
    content = msgspec.json.decode(row["content"]) if row["content"] else {}
    said = " ".join(str(content.get("subject") or content.get("text") or "").split())
    if not said:
        return "A post"
    return f"“{said[:EXCERPT]}…”" if len(said) > EXCERPT else f"“{said}”"


def _safe(link: str) -> str:
    """A network's answer must not bring a script into a mail."""
    return link if link.startswith(("https://", "http://")) else "#"


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
