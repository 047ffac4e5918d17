"""How a job is to run: every option by name, checked at the door.

Options come from three places, the nearest wins: the call, the task, the defaults. An unknown
name is refused with the nearest known one; nothing is stored then.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import msgspec

from cadenza.engine.errors import InvalidJob, unknown
from cadenza.engine.job import Debounce, Limit, Pace, Rate, Throttle, Unique, While
from cadenza.engine.retry import RetryPolicy

LONGEST_NAME = 200
LONGEST_WAIT = timedelta(days=36525)  # a hundred years
PRIORITIES = range(-32768, 32768)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What may be said of a job besides its payload. Durations are timedeltas or seconds."""

    queue: str = "default"
    """Workers serve queues; a queue can be paused and limited."""
    priority: int = 0
    """Lower goes first within a queue."""
    run_at: datetime | None = None
    """Not before this instant; must carry a zone or offset."""
    delay: timedelta | None = None
    """Not before this long from now, by the store's clock."""
    lane: str | None = None
    """Jobs of a lane share limits and parks: an account, a customer, a host."""
    limit: Limit | None = None
    """The lane's limit: concurrency at once, rate per time."""
    unique: Unique | None = None
    throttle: Throttle | None = None
    debounce: Debounce | None = None
    pace: Pace | None = None
    """At most one of these four rules."""
    jitter: timedelta = timedelta()
    """With `pace`: up to so much more space, at random."""
    tags: tuple[str, ...] = ()
    retry: RetryPolicy = RetryPolicy()
    """What happens after an error."""
    time_limit: timedelta | None = None
    """A run longer than this is stopped and counts as an error."""
    keep: bool | None = None
    """False deletes a done job at once; None: as the engine's retention says."""

    @property
    def has_rule(self) -> bool:
        """Say whether uniqueness, throttle, debounce or pace is asked for."""
        return bool(self.unique or self.throttle or self.debounce or self.pace)

    def with_(self, changes: Mapping[str, object]) -> Self:
        """Return these options with some changed; unknown names and impossible values are refused."""
        for name in changes:
            if name not in _NAMES:
                message = unknown("option", name, _NAMES)
                raise InvalidJob(message)
        coerced = {name: _coerce(name, value) for name, value in changes.items()}
        options = replace(self, **coerced)
        _check(options, given=coerced.keys())
        return options

    def overrides(self, of_task: Self, carried: Mapping[str, str] | None = None) -> str | None:
        """Return what this job must carry: what its task says otherwise, and words for its run; as JSON."""
        said: dict[str, object] = {"carried": dict(carried)} if carried else {}
        if self.retry != of_task.retry:
            said["retry"] = self.retry.as_json()
        if self.time_limit != of_task.time_limit:
            limit = self.time_limit
            said["time_limit"] = None if limit is None else limit.total_seconds()
        if self.keep != of_task.keep:
            said["keep"] = self.keep
        return msgspec.json.encode(said).decode() if said else None

    def apply(self, overrides: str) -> Self:
        """Return these options as a stored job overrides them."""
        said: dict[str, Any] = msgspec.json.decode(overrides)
        if "retry" in said:
            said["retry"] = self.retry.from_json(said["retry"])
        known = said.keys() & _OVERRIDES  # a newer release may write more: an older one lets it be
        return replace(self, **{name: _coerce(name, said[name]) for name in known})


def stored_overrides(options: str | None) -> Mapping[str, str]:
    """Return the words that a stored job took along when it was enqueued."""
    return {} if options is None else msgspec.json.decode(options).get("carried", {})


_NAMES = frozenset(field.name for field in fields(Options))
_OVERRIDES = frozenset({"retry", "time_limit", "keep"})
_DURATIONS = frozenset({"delay", "jitter", "time_limit"})
_RULES = ("unique", "throttle", "debounce", "pace")


def duration(name: str, value: object, *, most: timedelta = LONGEST_WAIT) -> timedelta:
    """Take a timedelta or seconds, never a negative one, and none that leaves the calendar."""
    if isinstance(value, bool) or not isinstance(value, timedelta | int | float):
        message = f"{name} must be a timedelta or a number of seconds, not {value!r}"
        raise InvalidJob(message)
    try:
        span = value if isinstance(value, timedelta) else timedelta(seconds=value)
    except (OverflowError, ValueError) as error:
        message = f"{name} of {value!r} seconds is not a time span"
        raise InvalidJob(message) from error
    if span < timedelta():
        message = f"{name} must not be negative, got {span}"
        raise InvalidJob(message)
    if span > most:
        message = f"{name} must be at most {most}, got {span}"
        raise InvalidJob(message)
    return span


def instant(name: str, value: object) -> datetime:
    """Take an aware datetime, return it in UTC; a naive one is refused."""
    if not isinstance(value, datetime):
        message = f"{name} must be a datetime, not {value!r}"
        raise InvalidJob(message)
    if value.tzinfo is None or value.utcoffset() is None:
        message = (
            f"{name} {value.isoformat()} has no time zone: give it one, for example tzinfo=UTC"
        )
        raise InvalidJob(message)
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        message = f"{name} {value.isoformat()} lies outside the calendar"
        raise InvalidJob(message) from error


def _coerce(name: str, value: object) -> Any:
    if value is None:
        return None
    if name in _DURATIONS:
        return duration(name, value)
    match name, value:
        case "run_at", _:
            return instant(name, value)
        case "tags", [*_] | tuple():
            return tuple(value)
        case "unique", str():
            return Unique(value)
        case "retry", int() if not isinstance(value, bool):
            return RetryPolicy(limit=value)
        case _:
            return value


_TYPES: dict[str, tuple[type, ...]] = {
    "queue": (str,),
    "priority": (int,),
    "lane": (str, type(None)),
    "limit": (Limit, type(None)),
    "unique": (Unique, type(None)),
    "throttle": (Throttle, type(None)),
    "debounce": (Debounce, type(None)),
    "pace": (Pace, type(None)),
    "tags": (tuple,),
    "retry": (RetryPolicy,),
    "keep": (bool, type(None)),
}


def _check(options: Options, *, given: Any) -> None:
    for name, types in _TYPES.items():
        value = getattr(options, name)
        if not isinstance(value, types) or (name == "priority" and isinstance(value, bool)):
            wanted = " or ".join("None" if t is type(None) else t.__name__ for t in types)
            message = f"{name} must be {wanted}, not {value!r}"
            raise InvalidJob(message)
    check_name("queue", options.queue)
    if options.lane is not None:
        check_name("lane", options.lane)
    for tag in options.tags:
        check_name("tag", tag)
    if options.priority not in PRIORITIES:
        message = (
            f"priority must be from {PRIORITIES[0]} to {PRIORITIES[-1]}, got {options.priority}"
        )
        raise InvalidJob(message)
    if "run_at" in given and "delay" in given and options.run_at and options.delay is not None:
        message = "give run_at or delay, not both"
        raise InvalidJob(message)
    rules = [name for name in _RULES if getattr(options, name) is not None]
    if len(rules) > 1:
        message = f"{' and '.join(rules)} cannot be combined: choose one"
        raise InvalidJob(message)
    if options.limit is not None:
        if options.lane is None:
            message = "limit is a lane's: name the lane too, or limit the queue with Engine.limit"
            raise InvalidJob(message)
        check_limit(options.limit)
    _check_rule(options)


def _check_rule(options: Options) -> None:
    match options.unique or options.throttle or options.debounce or options.pace:
        case Unique(key, while_):
            check_name("unique key", key)
            While(while_)
        case Throttle(key, period):
            check_name("throttle key", key)
            _positive("throttle period", period)
        case Debounce(key, wait, max_wait):
            check_name("debounce key", key)
            _positive("debounce wait", wait)
            if max_wait is not None and max_wait < wait:
                message = "debounce max_wait must be at least its wait"
                raise InvalidJob(message)
        case Pace(key, step):
            check_name("pace key", key)
            _positive("pace step", step)
        case None:
            pass


def check_limit(limit: Limit) -> None:
    """Refuse limits that would never let anything start."""
    if limit.concurrency is not None and limit.concurrency < 1:
        message = (
            f"concurrency must be at least 1, got {limit.concurrency}; to stop a scope, pause it"
        )
        raise InvalidJob(message)
    if isinstance(limit.rate, Rate):
        if limit.rate.count < 1 or limit.rate.burst < 1:
            message = "a rate's count and burst must be at least 1; to stop a scope, pause it"
            raise InvalidJob(message)
        _positive("rate period", limit.rate.per)


def check_name(what: str, name: str) -> None:
    """Refuse names that some store or some person could not handle."""
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        message = f"{what} must be 1 to {LONGEST_NAME} printable characters, got {name!r}"
        raise InvalidJob(message)


def _positive(what: str, span: timedelta) -> None:
    if span <= timedelta():
        message = f"{what} must be more than zero, got {span}"
        raise InvalidJob(message)
