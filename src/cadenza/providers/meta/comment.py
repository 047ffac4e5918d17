"""The first comment below a post that is out: one try, and whatever happens is only a note.

The call has little time, since the delivery waits for nothing here. A comment whose answer was lost may
be there or not; it is not sent again. That `/{post}/comments` with `message` takes it is general
knowledge of the Graph, and was run against the simulated network only.
"""

from dataclasses import replace

from cadenza.providers.base import AttemptContext
from cadenza.providers.errors import Table
from cadenza.providers.http.request import Request, Timeouts
from cadenza.providers.meta.graph import Graph, ask_graph
from cadenza.providers.outcome import Sent, Unconfirmed
from cadenza.providers.reply import HttpSuccess

A_MOMENT = Timeouts(connect=2, read=3, total=3)
THE_REST = Timeouts(connect=1, read=1.5, total=1.5)  # for the address, after a comment


async def comment(call: AttemptContext, graph: Graph, sent: Sent, table: Table) -> Sent:
    """Write the first comment, if there is one and a post to write it under."""
    text = (call.message.first_comment or "").strip()
    if not text:
        return sent
    if sent.remote_id is None:
        return _noted(sent, "The first comment was not written: the post's id is not known.")
    request = graph.post(f"{sent.remote_id}/comments", {"message": text}, idempotent=False)
    got = await ask_graph(call, replace(request, timeout=A_MOMENT), table)
    if isinstance(got, HttpSuccess):
        return sent
    if isinstance(got, Unconfirmed):
        return _noted(sent, "Whether the first comment is there is not known: look at the post.")
    return _noted(sent, f"The first comment was not written: {getattr(got, 'message', '')}")


def within_time_left(call: AttemptContext, request: Request) -> Request:
    """Leave what is read after a comment only the time that is left, or the note would be lost."""
    return replace(request, timeout=THE_REST) if call.message.first_comment else request


def _noted(sent: Sent, note: str) -> Sent:
    return replace(sent, note=f"{sent.note} {note}" if sent.note else note)
