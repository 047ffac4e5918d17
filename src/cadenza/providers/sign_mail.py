"""What an account adds to every mail: its signature, below the text and below the HTML."""

from dataclasses import replace
from html import escape

from cadenza.providers.message import AccountRef, Message

DELIMITER = "-- "  # mail programs fold away what comes after it (RFC 3676)


def signed(message: Message, account: AccountRef) -> Message:
    """Return a mail with the account's signature, if it has one."""
    signature = str(account.settings.get("signature") or "").strip()
    if not signature:
        return message
    text = message.text
    if text.strip():
        text = f"{text.rstrip()}\n\n{DELIMITER}\n{signature}"
    return replace(message, text=text, html=_below(message.html, signature))


def _below(html: str | None, signature: str) -> str | None:
    if html is None:
        return None
    block = f"<div><br>{DELIMITER}<br>{'<br>'.join(escape(line) for line in signature.splitlines())}</div>"
    place = html.lower().rfind("</body>")
    return f"{html[:place]}{block}{html[place:]}" if place >= 0 else html + block
