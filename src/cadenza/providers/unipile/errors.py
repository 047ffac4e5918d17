"""How Unipile refuses: a status and a type such as `errors/already_connected`.

Rows match status and type. What asks for something that is already so is no failure: it is told as
done, with a note that nothing new was sent. A 500 may stand for LinkedIn's own limit or for a message
that went out all the same, so it is an unconfirmed send.
"""

from datetime import datetime, timedelta

from cadenza.core.budgets import Period
from cadenza.providers.errors import (
    Refusal,
    Row,
    Table,
    Verdict,
    disconnected,
    forbidden,
    out_of_order,
    recipient_gone,
    recipient_shut,
    rejected,
    try_later,
    unsure,
    used_up,
)
from cadenza.providers.http.outcome import Reply
from cadenza.providers.outcome import Outcome, Sent, WaitScope
from cadenza.providers.waits import retry_after, seconds_in

A_DAY = timedelta(days=1)

CONTENT = (
    *("invalid_parameters", "malformed_request", "content_too_large", "invalid_url"),
    *("too_many_characters", "unescaped_characters", "missing_parameters"),
)
SIGNED_OUT = (
    *("disconnected_account", "expired_credentials", "invalid_credentials", "checkpoint_error"),
    *("multiple_sessions", "wrong_account", "insufficient_privileges", "disconnected_feature"),
    *("expired_link", "invalid_checkpoint_solution", "captcha_not_supported"),
)
NOT_ALLOWED = (
    *("insufficient_permissions", "feature_not_subscribed", "subscription_required"),
    *("account_mismatch", "session_mismatch", "unknown_authentication_context"),
    *("resource_access_restricted", "action_required"),
)
GONE = (
    *("invalid_recipient", "no_connection_with_recipient", "user_unreachable"),
    *("recipient_rejected", "cannot_invite_attendee"),
)
DONE = ("already_invited_recently", "already_connected", "action_already_performed")
THROTTLED = ("cannot_resend_yet", "cannot_resend_within_24hrs")
USED_UP = ("limit_exceeded", "connection_limit_reached")
UNPAID = ("insufficient_credits", "not_allowed_inmail", "payment_error")
UNFIT = (
    *("invalid_message", "invalid_post", "invalid_headers", "invalid_reply_subject"),
    *("parent_mail_not_found", "invalid_folder", "invalid_thread", "unprocessable_entity"),
    "limit_too_high",
)
SENDER = (
    *("sender_rejected", "send_as_denied", "ip_rejected_by_server"),
    *("account_configuration_error", "invalid_account", "unauthorized"),
)
AWAY = ("no_client_session", "no_channel", "no_handler", "network_down", "service_unavailable")


def read(reply: Reply, now: datetime) -> Refusal | None:
    """Read the error body."""
    body = reply.json()
    kind = body.get("type") if isinstance(body, dict) else None
    if not isinstance(kind, str) or not kind.startswith("errors/"):
        return None
    code = kind.removeprefix("errors/")
    words = body.get("detail") or body.get("title") or ""
    return Refusal(
        status=reply.status,
        # A type that is not known may hold anything; only known ones become codes.
        code=code if code in KNOWN else None,
        words=str(words),
        wait=retry_after(reply, now) or seconds_in(reply, "x-ratelimit-reset"),
    )


def _done(refusal: Refusal, message: str) -> Outcome:
    return Sent(None, note=f"Nothing new was sent. {message}")


def _rows(status: int, codes: tuple[str, ...], verdict: Verdict, message: str) -> tuple[Row, ...]:
    return tuple(Row(status, code, None, verdict, message) for code in codes)


_LATER = try_later(WaitScope.ACCOUNT, A_DAY)
_SOON = try_later(WaitScope.ACCOUNT)
_AGAIN = "The account is signed out at Unipile; connect it again there"

TABLE = Table(
    network="Unipile",
    read=read,
    before_it=WaitScope.ACCOUNT,
    rows=(
        *_rows(400, CONTENT, rejected, "Unipile does not take this content"),
        Row(401, "missing_credentials", None, disconnected, "Unipile does not accept our API key"),
        *_rows(401, SIGNED_OUT, disconnected, _AGAIN),
        Row(
            403, "account_restricted", None, disconnected, "The network has restricted the account"
        ),
        *_rows(403, NOT_ALLOWED, forbidden, "The account may not do this"),
        *_rows(
            404,
            ("resource_not_found", "invalid_resource_identifier"),
            recipient_gone,
            "There is no such person or chat",
        ),
        *_rows(422, GONE, recipient_gone, "This person cannot be reached by the account"),
        Row(422, "blocked_recipient", None, recipient_shut, "This person is blocked"),
        *_rows(422, DONE, _done, "It was already so"),
        *_rows(422, THROTTLED, _LATER, "The network wants a day between two invitations"),
        *_rows(
            422, USED_UP, used_up(Period.WEEK), "The network's limit for the account is reached"
        ),
        *_rows(422, UNPAID, forbidden, "The account's plan or credits do not allow this"),
        *_rows(422, UNFIT, rejected, "The network does not take this content"),
        *_rows(422, SENDER, forbidden, "The network does not let the account send; look at it"),
        Row(422, "provider_unreachable", None, out_of_order, "The network could not be reached"),
        Row(429, None, None, _SOON, "Unipile asks the account to slow down"),
        *_rows(503, AWAY, out_of_order, "Unipile is not ready"),
        *(
            Row(status, None, None, unsure, "Unipile or the network behind it did not finish")
            for status in (408, 500, 504)
        ),
        Row(501, None, None, forbidden, "Unipile does not offer this for the account's network"),
        Row(415, None, None, rejected, "Unipile did not understand the request"),
        # Types that are not known, by their status
        Row(400, None, None, rejected, "Unipile does not take this content"),
        Row(401, None, None, disconnected, _AGAIN),
        Row(403, None, None, forbidden, "The account may not do this"),
        Row(404, None, None, recipient_gone, "There is no such person or chat"),
        Row(422, None, None, rejected, "The network does not take this"),
    ),
)
KNOWN = frozenset(row.code for row in TABLE.rows if isinstance(row.code, str))
