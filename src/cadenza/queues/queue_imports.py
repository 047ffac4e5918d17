"""Gives rows of an import that say `queue` the next free slots: the port that `posts/import_csv.py` leaves.

A row goes whole or not at all: one account without room, and the row is refused with what that account
says.
"""

from collections.abc import Sequence
from datetime import datetime

from cadenza.posts.import_csv import Queues
from cadenza.posts.import_row import Joined, QueueRequest
from cadenza.posts.preflight import DoesNotFit
from cadenza.queues.add import Added, Queued, Unfit, add
from cadenza.queues.model import NoQueue, NoRoom, locks
from cadenza.sql.tx import Tx


def queue_import(tx: Tx, now: datetime, request: QueueRequest) -> Joined | DoesNotFit | str:
    """Queue the post on all its places, or say what is wrong."""
    answer = add(
        tx,
        now,
        workspace_id=request.workspace_id,
        post_id=request.post_id,
        by=request.by,
        targets=request.targets,
        files=request.files,
    )
    if not isinstance(answer, Added):
        return answer.message
    unfit = next((each.refusal for each in answer.answers if isinstance(each, Unfit)), None)
    if unfit is not None:
        return unfit
    refused = [each.message for each in answer.answers if isinstance(each, NoRoom | NoQueue)]
    if refused:
        return refused[0]
    queued = (each for each in answer.answers if isinstance(each, Queued))
    return Joined(tuple(dict.fromkeys(message for each in queued for message in each.warnings)))


def import_locks(workspace_id: str, account_ids: Sequence[str]) -> list[str]:
    """Name the locks of the accounts whose queues are written."""
    return locks(workspace_id, *account_ids)


QUEUES = Queues(add=queue_import, locks=import_locks)
