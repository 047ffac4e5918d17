"""How Meta's networks refuse: one envelope, `code` and `error_subcode`, mostly with status 400.

Codes decide, the status never. Subcodes 2207xxx mean the same under every code, and a container's
status names them alone; so those rows ask for no code. A network adds its own rows in front.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from cadenza.providers.errors import (
    Refusal,
    Row,
    Table,
    blocked_for,
    disconnected,
    forbidden,
    not_ready,
    prepare_again,
    recipient_gone,
    rejected,
    try_later,
    unsure,
)
from cadenza.providers.http.outcome import Reply
from cadenza.providers.meta.usage import regain
from cadenza.providers.outcome import Outcome, WaitScope
from cadenza.providers.waits import retry_after

A_WHILE = timedelta(minutes=15)
AN_HOUR = timedelta(hours=1)
HALF_A_DAY = timedelta(hours=12)
TOO_MANY_LINKS = "THREADS_API__LINK_LIMIT_EXCEEDED"
NAMES = frozenset({TOO_MANY_LINKS})
SIGN_IN_AGAIN = 400  # the only code of Instagram's sign-in page, which has an envelope of its own


def read(reply: Reply, now: datetime) -> Refusal | None:
    """Read the envelope, or the flat one of Instagram's sign-in."""
    body = reply.json()
    if not isinstance(body, dict):
        return None
    error: Any = body.get("error")
    if not isinstance(error, dict):
        return _flat(reply, body)
    return Refusal(
        status=reply.status,
        code=_named(error) or _number(error.get("code")),
        subcode=_number(error.get("error_subcode")),
        words=str(error.get("error_user_msg") or error.get("message") or ""),
        wait=regain(reply) or retry_after(reply, now),
        passing=error.get("is_transient") is True,
    )


def _flat(reply: Reply, body: Mapping[str, Any]) -> Refusal | None:
    if "error_type" not in body:
        return None
    words = str(body.get("error_message") or "")
    return Refusal(status=reply.status, code=_number(body.get("code")), words=words)


def _named(error: Mapping[str, Any]) -> str | None:
    """Return a code that is a word, wherever in the envelope it stands as a whole."""
    said = (str(error.get(name)) for name in ("code", "error_subcode", "type", "message"))
    bare = (each.rpartition(") ")[2] for each in said)  # messages begin with "(#100) "
    return next((each for each in bare if each in NAMES), None)


def _number(value: object) -> int | None:
    """Read a number that may come as text; 0 is said where there is none."""
    try:
        return int(str(value)) or None
    except ValueError:
        return None


def _rejected_for_now(refusal: Refusal, message: str) -> Outcome:
    """The code for everything: Meta's own word that it will pass counts more."""
    return unsure(refusal, message) if refusal.passing else rejected(refusal, message)


RECONNECT = "Connect the account again"

TOKENS = (
    Row(None, 190, 492, forbidden, "The person lost their role on the page; an admin must connect"),
    Row(None, 190, 2069032, forbidden, "The page's own token is needed; connect the page again"),
    Row(None, 190, 458, disconnected, f"The app was removed by the person. {RECONNECT}"),
    Row(None, 190, 459, disconnected, "The person must log in at facebook.com first"),
    Row(None, 190, 464, disconnected, "The person must confirm their account at facebook.com"),
    Row(None, 190, 460, disconnected, f"The password was changed. {RECONNECT}"),
    Row(None, 190, 463, disconnected, "The token has expired"),
    Row(None, 190, 467, disconnected, "The token is not valid any more"),
    Row(None, 190, None, disconnected, "The token is not accepted"),
    Row(None, 102, None, disconnected, "The session is not accepted"),
    Row(None, 104, None, disconnected, "The token's signature is not accepted; check the secret"),
    Row(None, 2500, None, disconnected, "No token arrived, or the request was not understood"),
    Row(None, 100, 36007, disconnected, "The sign-in was not completed in time; start again"),
    Row(
        None,
        100,
        36008,
        disconnected,
        "The sign-in came back to another address than the app has; check it in Meta's settings",
    ),
    Row(None, 100, 36009, disconnected, "This sign-in was used already; start again"),
    Row(None, 101, None, forbidden, "Meta does not know our app: check its id and secret"),
    Row(None, SIGN_IN_AGAIN, None, disconnected, "The sign-in was not completed; start again"),
)

# A restriction hides among the rate codes, so these stand before them.
BLOCKS = (
    Row(None, None, 2207051, forbidden, "Meta restricts this action; look at the account there"),
    Row(None, None, 2207050, forbidden, "The account is restricted or inactive; open its app"),
    Row(None, None, 4279013, forbidden, "The account is restricted; open its app"),
    Row(None, None, 1404078, forbidden, "The page needs a publishing authorisation"),
    Row(None, None, 4854002, forbidden, "A person must confirm their identity with Meta"),
    Row(None, 368, None, blocked_for(HALF_A_DAY), "Blocked for a while by policy"),
)

LIMITS = (
    Row(
        None, None, 2207042, try_later(WaitScope.ACCOUNT, AN_HOUR), "All posts of 24 hours are used"
    ),
    Row(None, None, 1390008, try_later(WaitScope.ACCOUNT, A_WHILE), "The page posts too fast"),
    Row(None, 4, None, try_later(WaitScope.APP, A_WHILE), "The app has used up its calls"),
    Row(None, 341, None, try_later(WaitScope.APP, AN_HOUR), "The app has used up its actions"),
    Row(None, 17, None, try_later(WaitScope.ACCOUNT, A_WHILE), "The person's calls are used up"),
    Row(None, 32, None, try_later(WaitScope.ACCOUNT, A_WHILE), "The page's calls are used up"),
    Row(
        None, 613, None, try_later(WaitScope.ACCOUNT, A_WHILE), "The calls of this kind are used up"
    ),
    *(
        Row(
            None,
            code,
            None,
            try_later(WaitScope.ACCOUNT, AN_HOUR),
            "The account's calls are used up",
        )
        for code in range(80000, 80015)
    ),
)

MEDIA = (
    Row(None, None, 2207027, not_ready(timedelta(seconds=30)), "Media are being worked on"),
    Row(None, None, 2207003, unsure, "Meta took too long to fetch a file"),
    Row(None, None, 2207020, prepare_again, "What was prepared has expired"),
    Row(None, None, 2207001, prepare_again, "Meta had a fault"),
    Row(None, None, 2207032, prepare_again, "Meta could not make the post"),
    Row(None, None, 2207053, prepare_again, "Meta could not take a file"),
    Row(None, None, 2207077, prepare_again, "Meta could not fetch a video"),
    Row(None, None, 2207082, prepare_again, "Meta could not take a video"),
    Row(None, None, 2207006, prepare_again, "What was prepared is gone"),
    Row(None, None, 2207008, prepare_again, "What was prepared is gone"),
    Row(None, None, 2207052, rejected, "Meta could not fetch a file from its address"),
    Row(None, None, 2207057, rejected, "The cover's time lies outside the video"),
    Row(None, None, 2207023, rejected, "This kind of media is not known"),
    Row(None, None, 2207028, rejected, "This set of pictures cannot be posted together"),
    *(
        Row(None, None, subcode, rejected, "A tag in this post is not allowed")
        for subcode in (2207035, 2207036, 2207037, 2207040)
    ),
    Row(None, None, 2207026, rejected, "The video's format is not taken"),
    Row(None, None, 2207004, rejected, "A picture is too large"),
    Row(None, None, 2207005, rejected, "A picture's format is not taken"),
    Row(None, None, 2207009, rejected, "A picture's proportions are not taken"),
    Row(None, None, 2207010, rejected, "The caption is too long"),
    # The same by their codes, for networks and days that name no subcode.
    Row(None, 9, None, try_later(WaitScope.ACCOUNT, AN_HOUR), "All posts of 24 hours are used"),
    Row(None, 24, None, prepare_again, "What was prepared is gone, or not there yet"),
    Row(None, 25, None, forbidden, "The account is restricted or inactive; open its app"),
    Row(None, 352, None, rejected, "The video's format is not taken"),
    Row(None, 324, None, rejected, "A picture is missing or cannot be read"),
    Row(None, 9004, None, rejected, "Meta could not fetch a file from its address"),
    Row(None, 9007, None, not_ready(timedelta(seconds=30)), "Media are being worked on"),
    *(
        Row(None, code, None, rejected, "A file or the caption does not fit the network's limits")
        for code in (36000, 36001, 36003, 36004)
    ),
)

REST = (
    Row(None, 100, 33, forbidden, "It is not there, or the account may not see it"),
    Row(None, 506, None, rejected, "The same post was made right before"),
    Row(None, 1609005, None, rejected, "The link's page could not be read"),
    Row(None, None, 1366046, rejected, "A photo is too large or of a wrong format"),
    Row(None, None, 1366051, rejected, "These photos were posted already"),
    Row(None, None, 1346003, rejected, "Meta takes this content for abuse"),
    Row(None, None, 1404102, rejected, "This content breaks Meta's community standards"),
    Row(None, None, 1363047, unsure, "Meta is out of order for a while"),
    Row(None, None, 1609010, unsure, "Meta is out of order for a while"),
    Row(None, 100, None, _rejected_for_now, "Meta does not take this content"),
    Row(None, 551, None, recipient_gone, "This person cannot be reached"),
    Row(None, 1545041, None, recipient_gone, "The time to answer this person is over"),
    Row(None, 3, None, forbidden, "The app may not do this"),
    Row(None, 10, None, forbidden, f"A permission is missing. {RECONNECT} and grant it"),
    *(
        Row(None, code, None, forbidden, f"A permission is missing. {RECONNECT} and grant it")
        for code in range(200, 300)
    ),
    *(Row(None, code, None, unsure, "Meta is out of order") for code in (1, 2, -1, -2)),
)

ROWS = (*TOKENS, *BLOCKS, *LIMITS, *MEDIA, *REST)


def table(network: str, *first: Row) -> Table:
    """Make a network's table: its own rows, then the ones that all of Meta share."""
    return Table(network=network, read=read, rows=(*first, *ROWS))
