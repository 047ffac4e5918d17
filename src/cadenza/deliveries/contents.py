"""Content by reference: a delivery that names a frozen template version holds only its variables.

Whoever needs the words completes them here, a batch at a time: the claim, `explain`, and the look at an unconfirmed send. Who
renders registers when the product starts; the pipeline knows no template.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from msgspec import structs

from cadenza.deliveries.model import Delivery
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key


@dataclass(frozen=True, slots=True)
class Unrenderable:
    """No message can be made of it, and why."""

    message: str


FillIn: TypeAlias = Callable[[Tx, Sequence[Delivery]], Mapping[Key, str | Unrenderable]]
_NOBODY_RENDERS = Unrenderable("nothing here renders templates")
_fill_in: list[FillIn] = []


def register(fill_in: FillIn) -> None:
    """Let templates be rendered by this."""
    _fill_in[:] = [fill_in]


def complete(tx: Tx, deliveries: Sequence[Delivery]) -> list[tuple[Delivery, str | None]]:
    """Return deliveries with their words, and what keeps one from having any."""
    refer = [each for each in deliveries if each.template_version_id is not None]
    made = _fill_in[0](tx, refer) if refer and _fill_in else {}
    return [_completed(each, made) for each in deliveries]


def _completed(
    delivery: Delivery, made: Mapping[Key, str | Unrenderable]
) -> tuple[Delivery, str | None]:
    if delivery.template_version_id is None:
        return delivery, None
    found = made.get(delivery.key, _NOBODY_RENDERS)
    if isinstance(found, Unrenderable):
        return delivery, found.message
    return structs.replace(delivery, content=found), None
