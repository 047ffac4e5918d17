"""Numbers that mean something: counts begin at one, ports end at 65535. A wrong one is told before anything opens."""

from typing import Annotated, Any

from cyclopts import Parameter


def _at_least_one(_: Any, value: int | None) -> None:
    if value is not None and value < 1:
        raise ValueError("it is at least 1")


def _a_port(_: Any, value: int | None) -> None:
    if value is not None and not 0 <= value <= 65535:
        raise ValueError("a port is at most 65535, and 0 takes any free one")


Count = Annotated[int, Parameter(validator=_at_least_one)]
SomeCount = Annotated[int | None, Parameter(validator=_at_least_one)]
Port = Annotated[int, Parameter(validator=_a_port)]
SomePort = Annotated[int | None, Parameter(validator=_a_port)]
