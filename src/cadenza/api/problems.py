"""Every refusal in one shape: RFC 9457 problem details, with all faults of the input and their places.

Raise `Problem` in a handler or inside an operation (which rolls back). `type` is a stable name for
programs, `detail` says what was wrong and what to do, `errors` names the fields. What breaks by our own
fault is told by its request id alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from cadenza.core.channels import UnknownChannelError
from cadenza.core.zones import UnknownZoneError
from cadenza.engine.errors import EngineError
from cadenza.media.storage import StorageFailed
from cadenza.people.model import Missing, PersonRefusal, TooOften, Wrong
from cadenza.sql.errors import Full, SqlError

TYPE = "urn:cadenza:problem:"
MEDIA = "application/problem+json"
MOST_FAULTS = 50  # told in one answer
LONGEST_PATH = 200  # characters of a fault's place; its sender chose the names in it
_TITLES = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    409: "Conflict",
    412: "It has changed",
    413: "Too large",
    410: "Gone",
    415: "Unsupported media type",
    416: "No such range",
    421: "Wrong host",
    422: "Invalid input",
    428: "Precondition needed",
    429: "Too many requests",
    500: "Our own fault",
    503: "Not available",
}


class Fault(BaseModel):
    """One thing that is wrong with the input."""

    path: str = Field(description="Where: body.slots.0.time, query.limit", examples=["body.name"])
    message: str = Field(description="What is wrong with it", examples=["it is missing"])
    code: str = Field(description="A stable name of the fault", examples=["missing"])


class ProblemView(BaseModel):
    """An error, in the shape of RFC 9457."""

    model_config = ConfigDict(title="Problem", extra="allow")

    type: str = Field(examples=["urn:cadenza:problem:not_found"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["There is no delivery of that id here."])
    instance: str | None = Field(default=None, description="The request's id, for the logs")
    errors: list[Fault] = Field(default_factory=list[Fault])


class Problem(Exception):
    """A refusal on its way to the caller."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        errors: Sequence[Fault] = (),
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = errors
        self.headers = headers or {}
        self.extra = extra


def not_found(what: str = "thing") -> Problem:
    """Refuse an id that is not here, be it unknown or somebody else's: nobody learns which."""
    return Problem(404, "not_found", f"There is no {what} of that id here.")


def conflict(code: str, detail: str, **extra: Any) -> Problem:
    """Refuse what does not go with how things stand now."""
    return Problem(409, code, detail, **extra)


def invalid(path: str, message: str, code: str = "invalid") -> Problem:
    """Refuse one field."""
    fault = Fault(path=path, message=message, code=code)
    return Problem(422, "invalid_input", f"{path}: {message}", errors=[fault])


def too_often(answer: TooOften, now: Any, message: str = "Too many tries:") -> Problem:
    """Refuse for a while."""
    seconds = max(1, int((answer.until - now).total_seconds()) + 1)
    return Problem(
        429,
        "too_often",
        f"{message} come back in {seconds} seconds.",
        headers={"retry-after": str(seconds)},
    )


def refuse(answer: Wrong | PersonRefusal | Missing, what: str = "thing") -> NoReturn:
    """Raise what an operation of people refused."""
    match answer:
        case Missing():
            raise not_found(what)
        case PersonRefusal(message, code):
            raise conflict(code, message)
        case Wrong():
            raise Problem(403, "wrong", "That does not match, or it can no longer be used.")


def answer_problem(request: Request, problem: Problem) -> Response:
    """Write a problem as an answer."""
    body = {
        "type": TYPE + problem.code,
        "title": _TITLES.get(problem.status, "Refused"),
        "status": problem.status,
        "detail": problem.detail,
        "instance": request.scope.get("request_id"),
        "errors": [fault.model_dump() for fault in problem.errors],
        **problem.extra,
    }
    return JSONResponse(body, problem.status, headers=dict(problem.headers), media_type=MEDIA)


async def on_problem(request: Request, error: Exception) -> Response:
    """Answer what was raised on purpose."""
    assert isinstance(error, Problem)
    return answer_problem(request, error)


async def on_invalid(request: Request, error: Exception) -> Response:
    """Answer invalid input with all its faults."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    faults = [
        Fault(path=_place(each["loc"]), message=_plain(each), code=each["type"])
        for each in found[:MOST_FAULTS]
    ]
    said = f"{faults[0].path}: {faults[0].message}"
    if len(found) > 1:
        more = f"; the first {MOST_FAULTS} are named" if len(found) > MOST_FAULTS else ""
        said = f"{len(found)} fields are wrong{more}."
    return answer_problem(request, Problem(422, "invalid_input", said, errors=faults))


async def on_http(request: Request, error: Exception) -> Response:
    """Answer what the framework refuses: unknown paths, wrong methods, bodies that are no JSON."""
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "method_not_allowed", 400: "bad_request"}.get(
        error.status_code, "refused"
    )
    message = {
        404: "There is nothing at this path: /api/v1/openapi.json lists what there is.",
        405: f"This path takes {(error.headers or {}).get('Allow') or 'other methods'}.",
    }.get(error.status_code, str(error.detail))
    return answer_problem(request, Problem(error.status_code, code, message, headers=error.headers))


async def on_zone(request: Request, error: Exception) -> Response:
    """Answer a zone that nobody knows."""
    return answer_problem(request, invalid("body.zone", str(error), "unknown_zone"))


async def on_channel(request: Request, error: Exception) -> Response:
    """Answer a channel that nobody knows."""
    return answer_problem(request, invalid("body.channel", str(error), "unknown_channel"))


async def on_database(request: Request, error: Exception) -> Response:
    """Answer that the database cannot do it now; a full one refuses, of a lost one nobody knows."""
    if isinstance(error, Full):
        message = "There is no room on the disk of the database; nothing was changed: an operator must see to it."
        return answer_problem(request, Problem(507, "no_room", message))
    problem = Problem(
        503,
        "unavailable",
        "The database cannot do this now: try again, with the same Idempotency-Key if you gave one.",
        headers={"retry-after": "1"},
    )
    return answer_problem(request, problem)


async def on_storage(request: Request, error: Exception) -> Response:
    """Answer that the files cannot be reached now."""
    problem = Problem(
        503,
        "unavailable",
        "The storage of media does not answer: try again.",
        headers={"retry-after": "5"},
    )
    return answer_problem(request, problem)


async def on_engine(request: Request, error: Exception) -> Response:
    """Answer what the engine refuses, by its kind."""
    assert isinstance(error, EngineError)
    status = {"missing": 404, "conflict": 409, "unavailable": 503}.get(error.kind, 422)
    code = {404: "not_found", 409: "conflict", 503: "unavailable"}.get(status, "invalid_input")
    return answer_problem(request, Problem(status, code, str(error)))


HANDLERS = {
    EngineError: on_engine,
    Problem: on_problem,
    RequestValidationError: on_invalid,
    HTTPException: on_http,
    UnknownChannelError: on_channel,
    UnknownZoneError: on_zone,
    SqlError: on_database,
    StorageFailed: on_storage,
}


def _place(parts: Sequence[Any]) -> str:
    place = ".".join(str(part)[:LONGEST_PATH] for part in parts)
    return place if len(place) <= LONGEST_PATH else f"{place[:LONGEST_PATH]}…"


def _plain(fault: Mapping[str, Any]) -> str:
    """Word what the schema refused for people: nobody reads a regular expression."""
    bound: Mapping[str, Any] = fault.get("ctx") or {}
    match fault["type"]:
        case "string_pattern_mismatch":
            pattern = str(bound.get("pattern"))
            if "]+@[" in pattern:  # something on both sides of it
                return "it is no e-mail address"
            if "http" in pattern:
                return "an address begins with https:// or http://"
            return "it holds a character that does not belong there"
        case "missing":
            return "it is missing"
        case "extra_forbidden":
            return "there is no such field here"
        case "string_too_short" if bound.get("min_length") == 1:
            return "it is empty"
        case "string_too_long":
            return f"it is longer than {bound.get('max_length')} characters"
        case "greater_than_equal":
            return f"it is at least {bound.get('ge')}"
        case "less_than_equal":
            return f"it is at most {bound.get('le')}"
        case _:
            return str(fault["msg"]).removeprefix("Value error, ")
