"""How Telegram refuses a person: names in capitals, some with a number of seconds or a server in them.

The names are Telegram's own; Telethon turns them into classes, and `name_of` turns them back. A wait
names its seconds; PEER_FLOOD names none, and is a day's rest for the account. RANDOM_ID_DUPLICATE is no
refusal: the message is there already.
"""

import re
from datetime import datetime, timedelta

from cadenza.providers.errors import (
    Refusal,
    Row,
    Table,
    blocked_for,
    disconnected,
    forbidden,
    prepare_again,
    recipient_gone,
    recipient_shut,
    rejected,
    transient,
    try_later,
)
from cadenza.providers.http.outcome import Reply
from cadenza.providers.outcome import Outcome, Sent, WaitScope

A_DAY = timedelta(hours=24)
NUMBER = re.compile(r"\\?\(\\+d\+\)|\d+")
REPEATED = "RANDOM_ID_DUPLICATE"
MOVED = (
    "PHONE_MIGRATE_X"  # the number lives in another data centre; Telethon has gone there meanwhile
)
PASSWORD_NEEDED = "SESSION_PASSWORD_NEEDED"  # noqa: S105 - Telegram's word for "ask for it"

GONE = (
    *("PEER_ID_INVALID", "USERNAME_INVALID", "USERNAME_NOT_OCCUPIED", "CHANNEL_INVALID"),
    *("CHAT_ID_INVALID", "YOU_BLOCKED_USER", "USER_PRIVACY_RESTRICTED", "USER_KICKED"),
    "PHONE_NOT_OCCUPIED",
)
SHUT = (
    *("USER_IS_BLOCKED", "INPUT_USER_DEACTIVATED", "CHANNEL_PRIVATE", "CHAT_WRITE_FORBIDDEN"),
    *("CHAT_RESTRICTED", "USER_BANNED_IN_CHANNEL"),
)
NO_RIGHT_THERE = (
    *("CHAT_FORBIDDEN", "CHAT_ADMIN_REQUIRED"),
    *("CHAT_GUEST_SEND_FORBIDDEN", "CHAT_SEND_PLAIN_FORBIDDEN", "CHAT_SEND_MEDIA_FORBIDDEN"),
    *("CHAT_SEND_PHOTOS_FORBIDDEN", "CHAT_SEND_VIDEOS_FORBIDDEN"),
    *("CHAT_SEND_DOCS_FORBIDDEN", "CHAT_SEND_GIFS_FORBIDDEN"),
)
OVER = (
    *("AUTH_KEY_UNREGISTERED", "AUTH_KEY_INVALID", "SESSION_REVOKED", "SESSION_EXPIRED"),
    *("USER_DEACTIVATED", "USER_DEACTIVATED_BAN", "PHONE_NUMBER_BANNED", "AUTH_KEY_DUPLICATED"),
)
CONTENT = (
    *("MESSAGE_TOO_LONG", "MEDIA_CAPTION_TOO_LONG", "MESSAGE_EMPTY", "ENTITY_BOUNDS_INVALID"),
    *("MEDIA_EMPTY", "PHOTO_INVALID_DIMENSIONS"),
)
# The random id makes a repetition harmless, so these may be tried again.
PASSING = ("TIMEOUT", "RPC_CALL_FAIL", "WORKER_BUSY_TOO_LONG_RETRY", "MSG_WAIT_FAILED")
MISTYPED = {
    "PHONE_NUMBER_INVALID": "This is no telephone number; write it with + and the country",
    "PHONE_CODE_INVALID": "The code is wrong; look at the newest message from Telegram",
    "PHONE_CODE_EXPIRED": "The code has run out; begin again",
    "PASSWORD_HASH_INVALID": "The password is wrong",
    "PHONE_NUMBER_UNOCCUPIED": "Nobody has this number at Telegram",
}


def name_of(pattern: str) -> str:
    """Write an error's name with X for its number, as Telegram's own list does."""
    return NUMBER.sub("X", pattern)


def _already(refusal: Refusal, message: str) -> Outcome:
    return Sent(None, note=message)


def _read(reply: Reply, now: datetime) -> Refusal | None:
    """Read nothing: no answer comes over HTTP here."""
    return None


def _rows(names: tuple[str, ...], verdict: object, message: str) -> tuple[Row, ...]:
    return tuple(Row(None, name, None, verdict, message) for name in names)  # pyright: ignore[reportArgumentType]


TABLE = Table(
    network="Telegram",
    read=_read,
    rows=(
        Row(None, REPEATED, None, _already, "Telegram had this message already"),
        *_rows(
            ("FLOOD_WAIT_X", "FLOOD_PREMIUM_WAIT_X"),
            try_later(WaitScope.ACCOUNT),
            "Telegram asks this account to wait",
        ),
        Row(
            None,
            "SLOWMODE_WAIT_X",
            None,
            try_later(WaitScope.RECIPIENT),
            "This chat takes one message at a time",
        ),
        Row(
            None,
            "PEER_FLOOD",
            None,
            blocked_for(A_DAY),
            "Telegram limits this account for writing to strangers; ask @SpamBot about it",
        ),
        Row(
            None,
            "PHONE_NUMBER_FLOOD",
            None,
            try_later(WaitScope.ACCOUNT, A_DAY),
            "Too many codes were asked for; wait a day",
        ),
        *_rows(GONE, recipient_gone, "This person or chat cannot be reached"),
        *_rows(SHUT, recipient_shut, "This person or chat is closed to the account"),
        *_rows(NO_RIGHT_THERE, forbidden, "The account may not write this in that chat"),
        *_rows(OVER, disconnected, "The session is over; sign in again"),
        *_rows(CONTENT, rejected, "Telegram does not take this content"),
        Row(None, "FILE_PARTS_INVALID", None, prepare_again, "An uploaded file is not whole"),
        Row(None, "FILE_PART_X_MISSING", None, prepare_again, "An uploaded file is not whole"),
        Row(
            None, "API_ID_INVALID", None, forbidden, "Telegram does not know our app: check its id"
        ),
        Row(
            None,
            "API_ID_PUBLISHED_FLOOD",
            None,
            forbidden,
            "The app's id is too well known; make one of your own at my.telegram.org",
        ),
        *(Row(None, name, None, rejected, message) for name, message in MISTYPED.items()),
        Row(None, MOVED, None, rejected, "The number lives in another data centre; try again"),
        Row(
            None,
            "FROZEN_METHOD_INVALID",
            None,
            forbidden,
            "Telegram has frozen this account; ask @SpamBot about it",
        ),
        Row(None, PASSWORD_NEEDED, None, rejected, "The account has a password; type it too"),
        *_rows(PASSING, transient, "Telegram had trouble"),
    ),
)
