"""What a person chooses for posts that were due after a backup, and what came of it; values alone."""

from dataclasses import dataclass
from enum import StrEnum


class Overdue(StrEnum):
    """What becomes of posts that were due after the backup."""

    CHECK = "check"
    NEXT_SLOT = "next_slot"
    NOW = "now"
    DRAFT = "draft"


@dataclass(frozen=True, slots=True)
class Rescheduled:
    """How many got a new time, how many are drafts again, how many are still missed."""

    moved: int = 0
    drafts: int = 0
    left: int = 0
