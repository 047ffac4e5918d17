"""How Telegram refuses: `ok: false` with a status, a sentence, and at times parameters.

There are no codes but the sentences, so these are parsed whole: each known sentence, with the few
words in it that vary, has a name, and rows match names. What is not known falls to the row of its
status. An album wraps the sentence of the message that failed, at times as the servers' own word in
capitals; it is unwrapped first.
"""

import re
from datetime import datetime, timedelta

from cadenza.providers.errors import (
    Refusal,
    Row,
    Table,
    disconnected,
    forbidden,
    recipient_gone,
    recipient_shut,
    rejected,
    transient,
    try_later,
    unsure,
)
from cadenza.providers.http.outcome import Reply
from cadenza.providers.outcome import WaitScope
from cadenza.providers.waits import bounded, retry_after

MIGRATED = "migrated"  # its subcode is the chat's new id
IN_ALBUM = "in_album"  # as a subcode: one message of an album failed, others may have gone out

_PREFIX = re.compile(r"(?:Bad Request|Forbidden|Unauthorized|Conflict): ")
_ALBUM = re.compile(
    r'failed to send message #\d+ with the error message "(?P<inner>.*)"', re.DOTALL
)
_KIND = "(?:group|supergroup|channel)"
# Whole sentences, after the prefix that only repeats the status.
_SENTENCES = tuple(
    (name, re.compile(sentence, re.DOTALL))
    for name, sentence in (
        ("blocked", "bot was blocked by the user|USER_IS_BLOCKED"),
        ("deactivated", "user is deactivated|INPUT_USER_DEACTIVATED"),
        ("never_started", "bot can't initiate conversation with a user"),
        ("is_bot", "the bot can't send messages to the bot|bot can't send messages to bots"),
        ("kicked", f"bot was kicked from the {_KIND} chat"),
        ("not_member", f"bot is not a member of the {_KIND} chat"),
        ("chat_deleted", "the group chat was deleted"),
        ("chat_not_found", "chat not found|private chat not found"),
        ("no_chat_id", "chat_id is empty"),
        (MIGRATED, "group chat was upgraded to a supergroup chat"),
        ("no_write_access", "have no write access to the chat|CHAT_WRITE_FORBIDDEN"),
        ("no_rights", "not enough rights to send .+ to the chat|CHAT_SEND_[A-Z]+_FORBIDDEN"),
        ("not_admin", f"need administrator rights in the {_KIND} chat"),
        ("empty", "message text is empty|message must be non-empty"),
        ("too_long", "message is too long|text is too long"),
        ("caption_too_long", "message caption is too long"),
        ("markup", "can't parse entities: .+"),
        ("bad_file", "wrong file identifier/HTTP URL specified"),
        ("bad_extension", "photo has unsupported extension.*"),
        ("bad_picture", "PHOTO_INVALID_DIMENSIONS|IMAGE_PROCESS_FAILED|PHOTO_EXT_INVALID"),
        ("not_fetched", "failed to get HTTP URL content|WEBPAGE_CURL_FAILED"),
        ("not_fetched", "wrong type of the web page content|WEBPAGE_MEDIA_EMPTY"),
        ("no_thread", "message thread not found"),
        ("no_reply", "message to be replied not found"),
        ("album_size", "too many messages to send as an album"),
    )
)


def read(reply: Reply, now: datetime) -> Refusal | None:
    """Read the error body: its sentence becomes a name, its parameters a wait or a new id."""
    body = reply.json()
    if not isinstance(body, dict) or body.get("ok") is not False:
        return None
    words = str(body.get("description") or "")
    given = body.get("parameters")
    parameters = given if isinstance(given, dict) else {}
    code, in_album = name_of(words)
    moved_to = parameters.get("migrate_to_chat_id")
    wait = parameters.get("retry_after")
    return Refusal(
        status=reply.status,
        code=code,
        subcode=str(moved_to) if code == MIGRATED and moved_to else in_album,
        words=words,
        wait=bounded(timedelta(seconds=wait))
        if isinstance(wait, int | float)
        else retry_after(reply, now),
    )


def name_of(words: str) -> tuple[str | None, str | None]:
    """Name a sentence; the second is `IN_ALBUM` if it is about one message of an album."""
    words = _begun_small(_PREFIX.sub("", words, count=1))
    wrapped = _ALBUM.fullmatch(words)
    if wrapped is not None:
        words = _begun_small(_PREFIX.sub("", wrapped["inner"], count=1))
    found = (name for name, sentence in _SENTENCES if sentence.fullmatch(words))
    return next(found, None), IN_ALBUM if wrapped is not None else None


def _begun_small(words: str) -> str:
    """Begin a sentence with a small letter, as the server does with all but those in an album."""
    return words[:1].lower() + words[1:] if words[1:2].islower() else words


def _gone(name: str, message: str) -> Row:
    return Row(None, name, None, recipient_gone, message)


def _shut(name: str, message: str) -> Row:
    return Row(None, name, None, recipient_shut, message)


def _content(name: str, message: str) -> Row:
    return Row(400, name, None, rejected, message)


TABLE = Table(
    network="Telegram",
    read=read,
    rows=(
        Row(401, None, None, disconnected, "Telegram does not accept the bot's token"),
        Row(404, None, None, disconnected, "Telegram does not know this bot; check its token"),
        _shut("blocked", "This person has blocked the bot"),
        _shut("deactivated", "This person's account is closed"),
        _gone("never_started", "This person has not started the bot"),
        _gone("is_bot", "Bots cannot write to bots"),
        _shut("kicked", "The bot was removed from the chat"),
        _gone("not_member", "The bot is not in the chat; add it there"),
        _gone("chat_deleted", "The chat was deleted"),
        _gone("chat_not_found", "There is no such chat, or the bot was never in it"),
        _gone("no_chat_id", "No chat is named"),
        _gone(MIGRATED, "The group became a supergroup with another id"),
        _shut("no_write_access", "The bot may not write in this chat"),
        Row(400, "no_rights", None, forbidden, "The bot may not send this kind in this chat"),
        Row(400, "not_admin", None, forbidden, "Make the bot an administrator of the channel"),
        _content("empty", "There is no text"),
        _content("too_long", "The text is too long for Telegram"),
        _content("caption_too_long", "The text is too long to stand below a file"),
        _content("markup", "Telegram cannot read the text's markup"),
        _content("bad_file", "Telegram does not take this file"),
        _content("bad_extension", "Telegram does not take this kind of picture"),
        _content("bad_picture", "Telegram cannot show this picture; check its size"),
        _content("no_thread", "The topic does not exist in this chat"),
        _content("no_reply", "The message that this one answers is gone"),
        _content("album_size", "An album holds at most ten files"),
        # Others of the album may be out already.
        Row(400, "not_fetched", IN_ALBUM, unsure, "Telegram could not get a file of the album"),
        Row(400, "not_fetched", None, transient, "Telegram could not get a file"),
        Row(413, None, None, rejected, "The files are too large for Telegram"),
        Row(429, None, IN_ALBUM, unsure, "Telegram took a part of the album, then asked to wait"),
        Row(429, None, None, try_later(WaitScope.ACCOUNT), "Telegram asks the bot to slow down"),
        Row(409, None, None, forbidden, "Another program uses this bot in a way that collides"),
        Row(403, None, None, recipient_gone, "Telegram does not let the bot write there"),
        Row(400, None, None, rejected, "Telegram does not take this message"),
        Row(500, None, None, unsure, "Telegram had a fault of its own"),
    ),
)
