"""Acts on what comes in: a reply, a bounce, an unsubscribe or an accepted connection, in the inbox's own transaction.

An automatic answer is no reply, and a delivery that is only delayed is no bounce: neither stops anybody.
"""

from datetime import datetime

from cadenza.inbox.listeners import InboundKind, InboundRecorded
from cadenza.outreach.model import StopCause
from cadenza.outreach.stop import accept_for, stop_for
from cadenza.sql.tx import Tx

CAUSES = {
    InboundKind.REPLY: StopCause.REPLY,
    InboundKind.HARD_BOUNCE: StopCause.BOUNCE,
    InboundKind.UNSUBSCRIBE: StopCause.UNSUBSCRIBE,
    InboundKind.COMPLAINT: StopCause.COMPLAINT,
}


def on_inbound(tx: Tx, now: datetime, recorded: InboundRecorded) -> None:
    """Stop sequences, or let them go on, for what came in."""
    if recorded.contact_id is None:
        return
    about = (recorded.workspace_id, recorded.contact_id)
    if recorded.kind is InboundKind.ACCEPTED:
        accept_for(tx, now, *about, delivery_id=recorded.delivery_id)
    elif (cause := CAUSES.get(recorded.kind)) is not None:
        stop_for(tx, now, *about, cause, delivery_id=recorded.delivery_id)
