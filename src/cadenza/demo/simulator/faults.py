"""What goes wrong, where and when: a plan of faults, each for a route, an account and the n-th call.

The letters are those of the acceptance list that every adapter is held to. Faults act on the wire, so
the product's real client meets real resets, silence and half bodies. Refusing to connect is not here:
that is `World.shut_door`, since no route is known before a connection stands.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase

from cadenza.demo.simulator.wire import Answer


class Kind(StrEnum):
    """How a call goes wrong."""

    DROP_BEFORE = "drop_before"  # b: the connection closes, nothing was done
    SILENCE_BEFORE = "silence_before"  # b: the request is read, nothing is done, and no reply ever
    RESET_AFTER = "reset_after"  # c: done, then a reset instead of the reply
    DROP_AFTER = "drop_after"  # c: done, then the connection closes
    SILENCE_AFTER = "silence_after"  # c: done, and no reply ever
    TRUNCATE_AFTER = "truncate_after"  # c: done, and half a reply
    DELAY = "delay"  # d: done only after `seconds`, when the client may be long gone
    ERROR_BEFORE = "error_before"  # e, f: `answer` (or a gateway's page) and nothing done
    ERROR_AFTER = "error_after"  # e: the same, and yet it was done
    HTML_AFTER = "html_after"  # e: done, and a success whose body is a web page
    DRIP = "drip"  # g: done, and the reply comes bit by bit over `seconds`
    TWICE = "twice"  # h: the request is processed twice, as by a proxy that repeats
    LAG = "lag"  # i: done, but lists do not show it for `seconds` of the networks' clock
    EXPIRE = "expire"  # j: the caller's token runs out right before this call


EFFECT_UNKNOWN = (
    Kind.RESET_AFTER,
    Kind.DROP_AFTER,
    Kind.SILENCE_AFTER,
    Kind.TRUNCATE_AFTER,
    Kind.DELAY,
    Kind.ERROR_AFTER,
)


@dataclass(slots=True, kw_only=True)
class Fault:
    """One planned fault; `route` is a pattern over names like `POST /api/v1/statuses`."""

    kind: Kind
    route: str = "*"
    account: str | None = None
    nth: int = 1  # the first matching call that it meets
    times: int = 1  # and how many after
    status: int = 502
    seconds: float = 0.0
    answer: Answer | None = None  # in the provider's shape; else a gateway's page of `status`
    seen: int = field(default=0, init=False)
    met: int = field(default=0, init=False)

    def meets(self, route: str, account: str | None) -> bool:
        """Count a call and say whether it goes wrong."""
        if not fnmatchcase(route, self.route) or self.account not in {None, account}:
            return False
        self.seen += 1
        hit = self.nth <= self.seen < self.nth + self.times
        self.met += hit
        return hit

    def is_next(self, route: str) -> bool:
        """Say whether the next call of a route goes wrong, as far as that is known without its account."""
        return fnmatchcase(route, self.route) and self.nth <= self.seen + 1 < self.nth + self.times

    def reply(self) -> Answer:
        """Return what is said instead of the true answer."""
        return self.answer or gateway_page(self.status)


class Faults:
    """The plan of one world."""

    def __init__(self) -> None:
        self._plan: list[Fault] = []

    def plan(self, kind: Kind, route: str = "*", **details: object) -> Fault:
        """Add a fault and return it, so that a test can ask whether it was met."""
        fault = Fault(kind=kind, route=route, **details)  # pyright: ignore[reportArgumentType]
        self._plan.append(fault)
        return fault

    def take(self, route: str, account: str | None) -> Fault | None:
        """Return the fault that this call meets, if any; the first planned wins."""
        met = [fault for fault in self._plan if fault.meets(route, account)]
        return met[0] if met else None

    def next_of(self, route: str) -> list[Fault]:
        """List the faults that the next call of a route meets."""
        return [fault for fault in self._plan if fault.is_next(route)]

    def clear(self) -> None:
        """Let everything work again."""
        self._plan.clear()


def gateway_page(status: int) -> Answer:
    """Make what a proxy shows when the network behind it is unwell."""
    page = f"<html><head><title>{status}</title></head><body><h1>{status}</h1></body></html>"
    return Answer(status, page.encode(), (("content-type", "text/html"),))
