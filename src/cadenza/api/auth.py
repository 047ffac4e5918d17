"""Coming in and going out: first start, sign-in, sign-out, a forgotten password, an invitation.

Tokens travel in bodies and cookies, never in addresses. Who is not here is told the same as who typed
a wrong password, after the same time.
"""

from datetime import datetime
from typing import Annotated

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from cadenza.api.cookies import read_cookie, write_cookie
from cadenza.api.problems import Problem, invalid, refuse, too_often
from cadenza.api.request_context import ReadContext, Reader
from cadenza.api.routes import ANYONE, PERSON, Resource
from cadenza.api.schemas import Email, InputModel, Line, ZoneName
from cadenza.people import change_password, invite, sign_in, sign_up
from cadenza.people.login_throttle import AttemptLimit, count_attempt, email_limits
from cadenza.people.model import CodeNeeded, PersonRefusal, TooOften, Wrong
from cadenza.people.passwords import judge
from cadenza.people.sessions import SessionOrigin, end_session, open_session
from cadenza.people.tokens import Token, draw_token, hash_token
from cadenza.sql.tx import Tx

routes = Resource("auth", "/auth")

Password = Annotated[str, StringConstraints(min_length=1, max_length=256)]
TokenText = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[\w-]+$")]
Code = Annotated[str, StringConstraints(min_length=6, max_length=20, pattern=r"^[\w -]+$")]


class FirstStart(BaseModel):
    """Whether the application waits for its first owner."""

    needed: bool


class FirstOwner(InputModel):
    """The first owner and their workspace."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "token": "the-token-that-was-printed",
                    "email": "ada@example.org",
                    "name": "Ada",
                    "password": "four plain words here",
                    "zone": "Europe/Berlin",
                    "workspace": "Ada and friends",
                }
            ]
        }
    )
    token: TokenText
    email: Email
    name: Line
    password: Password
    zone: ZoneName = "UTC"
    workspace: Line


class Credentials(InputModel):
    """What a person signs in with."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"email": "ada@example.org", "password": "four plain words here"}]
        }
    )
    email: Email
    password: Password
    code: Code | None = Field(default=None, description="Of the second factor, where one is on")


class SignedIn(BaseModel):
    """Who is signed in; the cookie came with it."""

    person_id: str
    workspace_id: str | None = None


class ResetInput(InputModel):
    """Whose password is forgotten."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"email": "ada@example.org"}]})
    email: Email


class ResetOnItsWay(BaseModel):
    """The same for every address: whether it is known is not told."""

    mails: bool = Field(
        description="Whether this installation sends mail; if not, ask who runs it: `cadenza person reset`"
    )


class Reset(InputModel):
    """The token of the mail, and the new password."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"token": "the-token-of-the-mail", "password": "four other plain words"}]
        }
    )
    token: TokenText
    password: Password


class Invited(InputModel):
    """The token of an invitation."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"token": "the-token-of-the-mail"}]})
    token: TokenText


class Joining(Invited):
    """How to join: somebody new chooses a name and a password."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "token": "the-token-of-the-mail",
                    "name": "Ben",
                    "password": "some plain words here",
                }
            ]
        }
    )
    name: Line | None = None
    password: Password | None = None
    zone: ZoneName = "UTC"


class InvitationView(BaseModel):
    """What an invitation is to."""

    workspace: str
    email: str
    role: str
    known: bool = Field(description="The address has an account here: sign in first")
    ends_at: datetime


@routes.get("/first-start", needs=ANYONE)
async def is_first_start(ask: Reader) -> FirstStart:
    """Say whether the application waits for its first owner."""
    return FirstStart(needed=await ask.read(sign_up.is_empty))


@routes.post("/first-start", needs=ANYONE, status_code=201)
async def first_start(ask: Reader, body: FirstOwner) -> SignedIn:
    """Become the first owner, with the token that was printed at the start."""
    await _throttle(
        ask, (AttemptLimit(f"first-start:{ask.address}", 10, email_limits("", "")[0].window),)
    )
    check_password(body.password, body.email, body.name)
    hashed = await ask.passwords.hash(body.password)
    token = draw_token()

    def operation(tx: Tx, now: datetime) -> tuple[str, str] | Wrong | PersonRefusal:
        made = sign_up.sign_up_first_owner(
            tx,
            now,
            start_hash=hash_token(body.token),
            email=body.email,
            name=body.name,
            password_hash=hashed,
            zone=body.zone,
            workspace=body.workspace,
            approval=ask.runtime.settings.first_approval,
        )
        if isinstance(made, tuple):
            open_session(tx, now, person_id=made[0], token_hash=token.hash, origin=origin_of(ask))
        return made

    made = await ask.change(operation, locks=[sign_up.LOCK])
    if not isinstance(made, tuple):
        refuse(made)
    give_cookie(ask, token)
    return SignedIn(person_id=made[0], workspace_id=made[1])


@routes.post("/sign-in", needs=ANYONE)
async def sign_in_person(ask: Reader, body: Credentials) -> SignedIn:
    """Sign in; a second factor's code is asked for where one is on."""
    begun = await ask.change(
        lambda tx, now: (
            sign_in.begin_sign_in(tx, now, email=body.email, address=ask.address),
            now,
        )
    )
    candidate, now = begun
    if isinstance(candidate, TooOften):
        raise too_often(candidate, now)
    right = await ask.passwords.check(body.password, candidate.password)
    token = draw_token()
    before = read_cookie(ask.request, ask.runtime.settings.public_url)
    answer = await ask.change(
        lambda tx, now: sign_in.finish_sign_in(
            tx,
            now,
            candidate=candidate,
            right=right,
            email=body.email,
            code=body.code,
            seal=ask.runtime.keyring,
            token_hash=token.hash,
            origin=origin_of(ask),
            replaces=None if before is None else hash_token(before),
        )
    )
    match answer:
        case CodeNeeded():
            raise Problem(401, "code_needed", "Send the code of your second factor as well.")
        case Wrong():
            raise Problem(
                401, "wrong_credentials", "The address, the password or the code is wrong."
            )
        case sign_in.SignedIn(person_id=person_id):
            give_cookie(ask, token)
            return SignedIn(person_id=person_id)


@routes.post("/sign-out", needs=PERSON, status_code=204)
async def sign_out(ask: Reader) -> None:
    """End this session."""
    caller = ask.caller
    await ask.change(
        lambda tx, now: end_session(tx, now, person_id=ask.person_id, id=caller.session_id or "")
    )
    ask.cookies.append(write_cookie("", ask.runtime.settings.public_url))


@routes.post("/password-reset/ask", needs=ANYONE, status_code=202)
async def ask_reset(ask: Reader, body: ResetInput) -> ResetOnItsWay:
    """Mail a link for a new password; the answer does not tell whether the address is known."""
    token = draw_token()

    def operation(tx: Tx, now: datetime) -> tuple[object, datetime]:
        letter_id = tx.new_id()
        sealed = ask.runtime.keyring.seal(token.text, row=change_password.email_row(letter_id))
        answer = change_password.ask_reset(
            tx,
            now,
            email=body.email,
            address=ask.address,
            token_hash=token.hash,
            letter_id=letter_id,
            sealed=sealed,
        )
        return answer, now

    answer, now = await ask.change(operation)
    if isinstance(answer, TooOften):
        raise too_often(answer, now)
    return ResetOnItsWay(mails=bool(ask.runtime.settings.mail.host))


@routes.post("/password-reset", needs=ANYONE, status_code=204)
async def reset(ask: Reader, body: Reset) -> None:
    """Set a new password with the token of the mail; every session ends."""
    await _throttle(ask, email_limits(ask.address, body.token))
    check_password(body.password, "", "")
    hashed = await ask.passwords.hash(body.password)
    answer = await ask.change(
        lambda tx, now: change_password.reset_password(
            tx, now, token_hash=hash_token(body.token), password_hash=hashed
        )
    )
    if isinstance(answer, Wrong):
        refuse(answer)


@routes.post("/invitations/look", needs=ANYONE)
async def show_invitation(ask: Reader, body: Invited) -> InvitationView:
    """Show what an invitation is to."""
    await _throttle(ask, email_limits(ask.address, "look")[:1])
    found = await ask.read(
        lambda tx, now: invite.find_invitation(tx, now, token_hash=hash_token(body.token))
    )
    if found is None:
        raise Problem(404, "not_found", "This invitation was used, taken back, or has ended.")
    return InvitationView(
        workspace=found["workspace_name"],
        email=found["email"],
        role=found["role"],
        known=found["person_id"] is not None,
        ends_at=found["ends_at"],
    )


@routes.post("/invitations/accept", needs=ANYONE, status_code=201)
async def accept_invitation(ask: Reader, body: Joining) -> SignedIn:
    """Join a workspace."""
    await _throttle(ask, email_limits(ask.address, "accept")[:1])
    hashed: str | None = None
    if body.password is not None:
        check_password(body.password, "", body.name or "")
        hashed = await ask.passwords.hash(body.password)
    signed_in_as = None if ask.known is None else ask.known.person_id
    token = draw_token()

    def operation(tx: Tx, now: datetime) -> tuple[str, str] | Wrong | PersonRefusal:
        joined = invite.accept(
            tx,
            now,
            token_hash=hash_token(body.token),
            signed_in_as=signed_in_as,
            name=body.name,
            password_hash=hashed,
            zone=body.zone,
        )
        if isinstance(joined, tuple) and signed_in_as is None:
            open_session(tx, now, person_id=joined[0], token_hash=token.hash, origin=origin_of(ask))
        return joined

    joined = await ask.change(operation)
    if not isinstance(joined, tuple):
        refuse(joined)
    if signed_in_as is None:
        give_cookie(ask, token)
    return SignedIn(person_id=joined[0], workspace_id=joined[1])


def check_password(password: str, email: str, name: str) -> None:
    """Refuse a new password that is too easy."""
    fault = judge(password, email=email, name=name)
    if fault is not None:
        raise invalid("body.password", fault, "weak_password")


def origin_of(ask: ReadContext) -> SessionOrigin:
    """Say where a session is opened from."""
    return SessionOrigin(address=ask.address, agent=_agent(ask.request))


def give_cookie(ask: ReadContext, token: Token) -> None:
    """Give the browser its token."""
    ask.cookies.append(write_cookie(token.text, ask.runtime.settings.public_url))


async def _throttle(ask: ReadContext, doors: tuple[AttemptLimit, ...]) -> None:
    refused, now = await ask.change(lambda tx, now: (count_attempt(tx, now, doors), now))
    if refused is not None:
        raise too_often(refused, now)


def _agent(request: Request) -> str:
    said = request.headers.get("user-agent", "")
    return "".join(letter for letter in said if letter.isprintable())[:200]
