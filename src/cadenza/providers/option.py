"""What a person may choose on one channel beside the words: declared by each network, shown by a composer.

A declaration is data: the name that the adapter reads from `message.options`, words for people, and what it
takes. Limit: it says nothing of what fits together; `validate` does.
"""

from dataclasses import dataclass
from enum import StrEnum

from cadenza.core.channels import Channel


class OptionType(StrEnum):
    """What an option takes."""

    CHOICE = "choice"  # one of its choices
    CHOICES = "choices"  # some of its choices, as a list
    FLAG = "flag"  # true or nothing
    TEXT = "text"
    TEXTS = "texts"  # a list of short texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One thing to choose; left out, the network's own usual counts."""

    name: str
    label: str
    takes: OptionType = OptionType.TEXT
    choices: tuple[tuple[str, str], ...] = ()  # value, and what people read
    hint: str = ""
    channels: tuple[Channel, ...] = ()  # of these alone; empty: of all of the network
