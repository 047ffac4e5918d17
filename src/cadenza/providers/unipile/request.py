"""Requests to Unipile: where its API lies for a customer, and how each action is written.

A customer's API has a port of its own (`api1.unipile.com:13111`); the same host serves it on the web's
port with `?port=13111`, which is used here, so that no odd port need be opened.
"""

import json
from collections.abc import Mapping
from urllib.parse import quote, urlencode, urlsplit

from cadenza.core.channels import Channel
from cadenza.providers.base import LONGEST, AttemptContext
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Body, File, Json, Multipart, Request, Timeouts
from cadenza.providers.mail_address import is_address
from cadenza.providers.message import AccountRef, Message, Recipient
from cadenza.providers.sign_mail import signed

KEY_HEADER = "X-Cadenza-Attempt"
ONE_CLICK = "List-Unsubscribe=One-Click"
SEND_TIME = Timeouts(connect=10, read=60, total=LONGEST.total_seconds())
WEB_PORTS = (None, 443, 8443)


def whole(dsn: str) -> str:
    """Return a DSN as an address; Unipile shows it without `https://`."""
    return dsn if "://" in dsn else f"https://{dsn}"


def base_of(dsn: str) -> tuple[str, str | None]:
    """Return the API's address and the port to name in the query, from what Unipile calls the DSN."""
    parts = urlsplit(whole(dsn))
    if parts.scheme == "https" and parts.port not in WEB_PORTS:
        return f"https://{parts.hostname}/api/v1", str(parts.port)
    return f"{parts.scheme}://{parts.netloc}/api/v1", None


def url(dsn: str, path: str, query: Mapping[str, str] | None = None) -> str:
    """Return the address of a path."""
    base, port = base_of(dsn)
    requested = {**(query or {}), **({"port": port} if port else {})}
    return f"{base}{path}" + (f"?{urlencode(requested)}" if requested else "")


def dsn_of(call: AttemptContext) -> str:
    """Return where the account's API lies."""
    return str(call.account.settings.get("dsn") or call.app.base_url)


def headers(key: Secret) -> dict[str, str | Secret]:
    """Return what every request carries."""
    return {"x-api-key": key, "accept": "application/json"}


def read(call: AttemptContext, path: str, query: Mapping[str, str] | None = None) -> Request:
    """Make a request that reads."""
    return Request("GET", url(dsn_of(call), path, query), headers(call.tokens.access))


async def write(call: AttemptContext) -> Request:
    """Write the one irreversible request of a message."""
    message = call.message
    recipient = message.recipient
    assert recipient is not None, "publish asks for a recipient"
    path, body = await _written(call, message, recipient)
    return Request(
        "POST",
        url(dsn_of(call), path),
        headers(call.tokens.access),
        body,
        timeout=SEND_TIME,
    )


async def _written(
    call: AttemptContext, message: Message, recipient: Recipient
) -> tuple[str, Body]:
    account = call.account.remote_id
    if message.channel is Channel.LINKEDIN_INVITATION:
        fields = {"provider_id": recipient.address, "account_id": account}
        return "/users/invite", Json(
            {**fields, **({"message": message.text} if message.text else {})}
        )
    files = {"attachments": await _files(message)} if message.media else {}
    if message.channel is Channel.EMAIL:
        return "/emails", Multipart(files, _mail(call, message, recipient))
    chat = recipient.fields.get("chat_id")
    if message.channel is Channel.LINKEDIN_MESSAGE and chat:
        return f"/chats/{quote(chat, safe='')}/messages", Multipart(files, {"text": message.text})
    fields = {"account_id": account, "attendees_ids": recipient.address, "text": message.text}
    if message.channel is Channel.LINKEDIN_INMAIL:
        fields["subject"] = message.subject
        fields["linkedin[api]"] = str(message.options.get("api") or "classic")
        fields["linkedin[inmail]"] = "true"
    return "/chats", Multipart(files, fields)


def _mail(call: AttemptContext, message: Message, recipient: Recipient) -> dict[str, str | Secret]:
    to = [{"display_name": recipient.name, "identifier": recipient.address}]
    settings = call.account.settings
    extra = [{"name": KEY_HEADER, "value": call.key}]
    if settings.get("reply_to"):
        extra.append({"name": "Reply-To", "value": str(settings["reply_to"])})
    if message.options.get("in_reply_to"):
        before = str(message.options["in_reply_to"])
        thread = str(message.options.get("references") or before)
        extra.append({"name": "In-Reply-To", "value": before})
        extra.append({"name": "References", "value": thread})
    if message.unsubscribe_url:
        extra.append({"name": "List-Unsubscribe", "value": f"<{message.unsubscribe_url}>"})
        extra.append({"name": "List-Unsubscribe-Post", "value": ONE_CLICK})
    return {
        "account_id": call.account.remote_id,
        "to": json.dumps(to),
        "subject": message.subject,
        "body": body_of(signed(message, call.account)),
        "custom_headers": json.dumps(extra),
        **_from(call.account),
    }


def _from(account: AccountRef) -> dict[str, str]:
    """Name the sender, where both the name and the address are known."""
    name = str(account.settings.get("from_name") or "")
    address = str(account.settings.get("from_address") or account.handle)
    if not name or not is_address(address):
        return {}
    return {"from": json.dumps({"display_name": name, "identifier": address})}


def body_of(message: Message) -> str:
    """Return a mail's body as HTML; plain text keeps its lines."""
    if message.html is not None:
        return message.html
    text = message.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("\r\n", "\n").replace("\n", "<br>")


async def _files(message: Message) -> tuple[File, ...]:
    return tuple([File(await m.read(), m.name or "file", m.mime) for m in message.media])
