"""A string that does not show itself: for tokens, passwords and keys on their way through the program.

Printing gives a mark, pickling and JSON fail; only `reveal()` tells. Limit: what was revealed is plain
text again, and memory is not wiped.
"""

import hmac
from typing import NoReturn

MARK = "[secret]"


class Secret:
    """A string that does not show itself. It is no `str`, so nothing joins or encodes it by luck."""

    __slots__ = ("_value",)

    def __init__(self, value: "str | Secret") -> None:
        self._value = value.reveal() if isinstance(value, Secret) else value

    def reveal(self) -> str:
        """Return the value: call it where the request is built, and nowhere else."""
        return self._value

    def __repr__(self) -> str:
        return MARK

    def __str__(self) -> str:
        return MARK

    def __format__(self, spec: str) -> str:
        return MARK

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash(self._value)

    def __copy__(self) -> "Secret":
        return self

    def __deepcopy__(self, memo: object) -> "Secret":
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a Secret cannot be serialised; seal it, or reveal() it where it is used")
