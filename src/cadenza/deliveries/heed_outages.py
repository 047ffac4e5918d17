"""A network that is out of order costs nobody's attempts: the account rests, and a call now and then finds out.

Faults in a row are counted by account, whichever deliveries met them: a call that did not get through, or had
no answer. Any answer ends the row. From the third on the whole account rests, a minute first and at most a
quarter of an hour, and what did not get through is as if the network had asked for that wait. Limit: after
some hours attempts count again, so nothing is tried for ever.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cadenza.core.backoff import Backoff, delay
from cadenza.deliveries.heed_waits import NetworkWait
from cadenza.deliveries.model import account_scope
from cadenza.providers.outcome import Reach, Transient, TryLater, Unconfirmed
from cadenza.sql.tx import Row, Tx

if TYPE_CHECKING:
    from cadenza.deliveries.settle import Result

ENOUGH = 3  # faults in a row; fewer than the attempts that a post has
REST = Backoff(base=timedelta(minutes=1), cap=timedelta(minutes=15), jitter=0.2)
MOST = 30  # about six hours of one call after the other
Key = tuple[str, str]  # a workspace and an account


def heed_outages(
    tx: Tx, now: datetime, results: "Sequence[Result]"
) -> "tuple[list[Result], list[NetworkWait]]":
    """Count faults and answers; return what the results come to, and how long accounts rest."""
    faults = Counter(_account(result) for result in results if _is_fault(result))
    _end_rows(tx, [result for result in results if not _is_fault(result)])
    if not faults:
        return list(results), []
    rows = _count(tx, faults)
    rests = {
        key: _rest(now, row, results[0].fraction)
        for key, row in rows.items()
        if row["faults"] >= ENOUGH
    }
    spared = {key: rest for key, rest in rests.items() if rows[key]["faults"] <= MOST}
    heeded = [_heed(now, result, spared.get(_account(result))) for result in results]
    return heeded, list(rests.values())


def _is_fault(result: "Result") -> bool:
    match result.outcome:
        case Transient(out_of_order=out_of_order):
            return out_of_order
        case Unconfirmed():
            return True
        case _:
            return False


def _rest(now: datetime, account: Row, fraction: float) -> NetworkWait:
    wait = delay(REST, account["faults"] - ENOUGH + 1, fraction=fraction)
    says = f"the network is out of order, {account['faults']} calls in a row did not get through"
    scope = account["workspace_id"], account_scope(account["id"])
    return NetworkWait(scope=scope, until=now + wait, reason=says)


def _heed(now: datetime, result: "Result", rest: NetworkWait | None) -> "Result":
    if rest is None or not isinstance(result.outcome, Transient) or not _is_fault(result):
        return result
    says = f"{rest.reason}: {result.outcome.says}"
    return replace(result, outcome=TryLater(rest.until - now, Reach.ACCOUNT, says))


def _account(result: "Result") -> Key:
    return result.ticket.workspace_id, result.ticket.row["account_id"]


def _count(tx: Tx, faults: Counter[Key]) -> dict[Key, Row]:
    rows = tx.all(
        """
        UPDATE account SET faults = faults + new.met
        FROM TABLE(:new) AS new (workspace_id text, id text, met integer)
        WHERE account.workspace_id = new.workspace_id AND account.id = new.id
        RETURNING account.workspace_id, account.id, faults
        """,
        new=[(*key, met) for key, met in sorted(faults.items())],
    )
    return {(row["workspace_id"], row["id"]): row for row in rows}


def _end_rows(tx: Tx, answered: "Sequence[Result]") -> None:
    """The network answered, whatever it said."""
    keys = {_account(result) for result in answered if result.attempt_id is not None}
    if keys:
        tx.run(
            """
            UPDATE account SET faults = 0
            FROM TABLE(:keys) AS answered (workspace_id text, id text)
            WHERE account.workspace_id = answered.workspace_id AND account.id = answered.id AND faults > 0
            """,
            keys=sorted(keys),
        )
