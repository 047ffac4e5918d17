"""A network that is out of order costs nobody's attempts: the account rests, and a call now and then finds out.

Faults in a row are counted by account, whichever deliveries met them: a call that did not get through, or had
no answer. Any answer ends the row. From the third on the whole account rests, a minute first and at most a
quarter of an hour, and what did not get through is as if the network had asked for that wait. Limit: after
some hours attempts count again, so nothing is tried for ever.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.core.backoff import Backoff, delay
from cadenza.deliveries.model import NetworkWait, account_scope
from cadenza.providers.outcome import Outcome, Transient, TryLater, Unconfirmed, WaitScope
from cadenza.sql.tx import Row, Tx

ENOUGH = 3  # faults in a row; fewer than the attempts that a post has
REST = Backoff(base=timedelta(minutes=1), cap=timedelta(minutes=15), jitter=0.2)
MOST = 30  # about six hours of one call after the other
Key = tuple[str, str]  # a workspace and an account


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a call, or what prepared it, came to."""

    account: Key
    outcome: Outcome
    was_made: bool  # else it never came to the call

    @property
    def is_fault(self) -> bool:
        """Say whether the network did not serve at all."""
        match self.outcome:
            case Transient(out_of_order=out_of_order):
                return out_of_order
            case Unconfirmed():
                return True
            case _:
                return False


def update_breaker(
    tx: Tx, now: datetime, calls: Sequence[CallResult], *, fraction: float
) -> tuple[list[Outcome], list[NetworkWait]]:
    """Count faults and answers; return what each call comes to, and how long accounts rest."""
    _end_rows(tx, {call.account for call in calls if call.was_made and not call.is_fault})
    faults = Counter(call.account for call in calls if call.is_fault)
    rows = _count(tx, faults) if faults else {}
    rests = {key: _rest(now, row, fraction) for key, row in rows.items() if row["faults"] >= ENOUGH}
    spared = {key: rest for key, rest in rests.items() if rows[key]["faults"] <= MOST}
    return [_update_account(now, call, spared.get(call.account)) for call in calls], list(
        rests.values()
    )


def _rest(now: datetime, account: Row, fraction: float) -> NetworkWait:
    wait = delay(REST, account["faults"] - ENOUGH + 1, fraction=fraction)
    message = f"the network is out of order, {account['faults']} calls in a row did not get through"
    scope = account["workspace_id"], account_scope(account["id"])
    return NetworkWait(scope=scope, until=now + wait, reason=message)


def _update_account(now: datetime, call: CallResult, rest: NetworkWait | None) -> Outcome:
    if rest is None or not call.is_fault or not isinstance(call.outcome, Transient):
        return call.outcome
    message = f"{rest.reason}: {call.outcome.message}"
    return TryLater(rest.until - now, WaitScope.ACCOUNT, message)


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


def _end_rows(tx: Tx, accounts: set[Key]) -> None:
    """These networks answered, whatever they said."""
    if accounts:
        tx.run(
            """
            UPDATE account SET faults = 0
            FROM TABLE(:accounts) AS answered (workspace_id text, id text)
            WHERE account.workspace_id = answered.workspace_id AND account.id = answered.id AND faults > 0
            """,
            accounts=sorted(accounts),
        )
