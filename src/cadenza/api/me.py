"""Oneself: name, zone, sessions, password and second factor.

Whatever changes how a person proves themselves ends all other sessions and gives this one a new token.
"""

from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict, Field

from cadenza.api.auth import Code, Password, check_password, give_cookie
from cadenza.api.problems import Problem, refuse, too_often
from cadenza.api.request_context import ReadContext, Reader, WriteContext, Writer
from cadenza.api.routes import PERSON, Resource
from cadenza.api.schemas import Answer, Id, InputModel, Line, SecretView, ZoneName
from cadenza.deliveries.installation import read_signs
from cadenza.people import change_password, second_factor, sessions
from cadenza.people.login_throttle import AttemptLimit, count_attempt
from cadenza.people.model import Done, Missing
from cadenza.people.profile import change_profile, show_profile
from cadenza.people.tokens import draw_bytes, draw_recovery_codes, draw_token, hash_recovery_code
from cadenza.people.workspaces import list_workspaces
from cadenza.sql.tx import Tx

routes = Resource("me", "/me")


class Membership(BaseModel):
    """A workspace that one is in."""

    workspace_id: str
    name: str
    role: str
    member_id: str


class Me(Answer):
    """Who one is."""

    id: str
    email: str
    name: str
    zone: str
    week_start: int
    instance_owner: bool
    second_factor: bool
    sending_held: str | None = Field(
        description="Why nothing is sent until an owner of this installation confirms; null: all is well"
    )
    workspaces: list[Membership]


class Profile(InputModel):
    """What a person may change of themselves."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "Ada", "zone": "Europe/Berlin", "week_start": 1}]}
    )
    name: Line | None = None
    zone: ZoneName | None = None
    week_start: int | None = Field(default=None, ge=0, le=6, strict=True, description="Sunday is 0")


class SessionView(BaseModel):
    """One place where one is signed in."""

    id: str
    address: str
    agent: str
    created_at: datetime
    seen_at: datetime
    ends_at: datetime
    current: bool


class Ended(Answer):
    """How many sessions were ended."""

    ended: int


class PasswordChange(InputModel):
    """The password as it is, and as it shall be."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"old": "four plain words here", "new": "four other plain words"}]
        }
    )
    old: Password
    new: Password


class PasswordInput(InputModel):
    """The password, once more."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"password": "four plain words here"}]}
    )
    password: Password


class CodeInput(InputModel):
    """A code of the app, or a recovery code."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"code": "123456"}]})
    code: Code


class Proposed(SecretView):
    """What an authenticator app reads; shown once."""

    address: str


class Recovery(SecretView):
    """Codes for the day when the phone is gone; shown once."""

    codes: list[str]


@routes.get(needs=PERSON)
async def show_me(ask: Reader) -> Me:
    """Say who one is, and which workspaces one is in."""
    return await ask.read(lambda tx, now: _me(tx, now, ask.person_id))


@routes.patch(needs=PERSON)
async def change_me(act: Writer, body: Profile) -> Me:
    """Change one's name, zone, or first day of the week."""

    def operation(tx: Tx, now: datetime) -> Me:
        change_profile(
            tx,
            now,
            person_id=act.person_id,
            name=body.name,
            zone=body.zone,
            week_start=body.week_start,
        )
        return _me(tx, now, act.person_id)

    return await act.write(operation)


@routes.get("/sessions", needs=PERSON)
async def list_sessions(ask: Reader) -> list[SessionView]:
    """List where one is signed in."""
    rows = await ask.read(lambda tx, now: sessions.list_sessions(tx, now, person_id=ask.person_id))
    return [SessionView(**row, current=row["id"] == ask.caller.session_id) for row in rows]


@routes.delete("/sessions/{session_id}", needs=PERSON, status_code=204)
async def end_session(act: Writer, session_id: Id) -> None:
    """End one session."""

    def operation(tx: Tx, now: datetime) -> None:
        answer = sessions.end_session(tx, now, person_id=act.person_id, id=session_id)
        if isinstance(answer, Missing):
            refuse(answer, "session")

    await act.write(operation)


@routes.delete("/sessions", needs=PERSON)
async def end_other_sessions(act: Writer) -> Ended:
    """End every session but this one."""
    keep = act.caller.session_id

    def operation(tx: Tx, now: datetime) -> Ended:
        return Ended(ended=sessions.end_others(tx, now, person_id=act.person_id, keep=keep))

    return await act.write(operation)


@routes.post("/password", needs=PERSON, status_code=204)
async def change_own_password(ask: Reader, body: PasswordChange) -> None:
    """Change the password; every other session ends."""
    was, me = await _prove(ask, body.old)
    check_password(body.new, me.email, me.name)
    hashed = await ask.passwords.hash(body.new)
    token = draw_token()

    def operation(tx: Tx, now: datetime) -> None:
        session_id = ask.caller.session_id or ""
        answer = change_password.change_password(
            tx, now, person_id=me.id, session_id=session_id, was=was, password_hash=hashed
        )
        if not isinstance(answer, Done):
            refuse(answer)
        sessions.rotate_session(tx, now, session_id=session_id, token_hash=token.hash)

    await ask.change(operation)
    give_cookie(ask, token)


@routes.post("/second-factor", needs=PERSON)
async def propose_second_factor(ask: Reader, body: PasswordInput) -> Proposed:
    """Get a new secret for an authenticator app; it counts once a first code has confirmed it."""
    _, me = await _prove(ask, body.password)
    secret = draw_bytes(second_factor.SECRET_BYTES)
    sealed = ask.runtime.keyring.seal(second_factor.pack(secret), row=second_factor.row_name(me.id))

    def operation(tx: Tx, now: datetime) -> None:
        answer = second_factor.propose(tx, now, person_id=me.id, sealed=sealed)
        if not isinstance(answer, Done):
            refuse(answer)

    await ask.change(operation)
    return Proposed(address=second_factor.app_address(secret, me.email))


@routes.post("/second-factor/confirm", needs=PERSON)
async def confirm_second_factor(ask: Reader, body: CodeInput) -> Recovery:
    """Switch it on with a first code; every other session ends, and recovery codes are shown once."""
    await _slow_down(ask)
    codes = draw_recovery_codes()
    hashes = [hash_recovery_code(ask.person_id, code) for code in codes]
    token = draw_token()

    def operation(tx: Tx, now: datetime) -> None:
        session_id = ask.caller.session_id or ""
        answer = second_factor.confirm(
            tx,
            now,
            person_id=ask.person_id,
            session_id=session_id,
            code=body.code,
            seal=ask.runtime.keyring,
            recovery_hashes=hashes,
        )
        if not isinstance(answer, Done):
            refuse(answer)
        sessions.rotate_session(tx, now, session_id=session_id, token_hash=token.hash)

    await ask.change(operation)
    give_cookie(ask, token)
    return Recovery(codes=list(codes))


@routes.post("/second-factor/off", needs=PERSON, status_code=204)
async def switch_off_second_factor(ask: Reader, body: CodeInput) -> None:
    """Switch it off with one more code; every other session ends."""
    await _slow_down(ask)
    token = draw_token()

    def operation(tx: Tx, now: datetime) -> None:
        session_id = ask.caller.session_id or ""
        answer = second_factor.switch_off(
            tx,
            now,
            person_id=ask.person_id,
            session_id=session_id,
            code=body.code,
            seal=ask.runtime.keyring,
        )
        if not isinstance(answer, Done):
            refuse(answer)
        sessions.rotate_session(tx, now, session_id=session_id, token_hash=token.hash)

    await ask.change(operation)
    give_cookie(ask, token)


def _me(tx: Tx, now: datetime, person_id: str) -> Me:
    row = show_profile(tx, now, person_id=person_id)
    places = list_workspaces(tx, now, person_id=person_id)
    signs = read_signs(tx, now)
    return Me(
        id=row["id"],
        email=row["email"],
        name=row["name"],
        zone=row["zone"],
        week_start=row["week_start"],
        instance_owner=bool(row["instance_owner"]),
        second_factor=bool(row["totp_on"]),
        sending_held=signs.hold.message if signs is not None and signs.hold is not None else None,
        workspaces=[
            Membership(
                workspace_id=each["id"],
                name=each["name"],
                role=each["role"],
                member_id=each["member_id"],
            )
            for each in places
        ],
    )


async def _prove(ask: ReadContext, password: str) -> tuple[str, Me]:
    """Check the password of who is signed in; it counts as a try."""
    await _slow_down(ask)
    row = await ask.read(lambda tx, now: show_profile(tx, now, person_id=ask.person_id))
    if not await ask.passwords.check(password, row["password"]):
        raise Problem(403, "wrong", "The password is wrong.")
    me = await ask.read(lambda tx, now: _me(tx, now, ask.person_id))
    return row["password"], me


async def _slow_down(ask: ReadContext | WriteContext) -> None:
    doors = (AttemptLimit(f"prove:{ask.person_id}", 10, timedelta(minutes=15)),)
    refused, now = await ask.change(lambda tx, now: (count_attempt(tx, now, doors), now))
    if refused is not None:
        raise too_often(refused, now)
