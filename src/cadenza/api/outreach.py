"""Outreach as a whole: is what is planned within the limits, new times for what is not, and what keeps it waiting."""

from datetime import date, datetime

from cadenza.api.queue_schemas import ValueView, show
from cadenza.api.request_context import ReadContext, Reader, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id
from cadenza.outreach.check_limits import check_limits, repair_limits, repair_locks
from cadenza.outreach.doctor import examine
from cadenza.people.model import Role
from cadenza.sql.tx import Tx

routes = Resource("outreach", "/workspaces/{workspace_id}/outreach")
SHOWN = 1_000  # moves in one answer


class LimitFindingView(ValueView):
    """What one account has planned on one date beyond a limit."""

    account_id: str
    action: str
    day: date
    limit: str
    messages: int


class MessageMovedView(ValueView):
    """A message with its old and its new time; without one, there is no time within a year."""

    delivery_id: str
    sequence_id: str
    contact_id: str
    account_id: str
    limit: str
    was_at: datetime
    now_at: datetime | None


class LimitsRepaired(Answer):
    """What was moved; the first 1,000 moves are listed."""

    moved: int
    without_time: int
    moves: list[MessageMovedView]


class DoctorFindingView(ValueView):
    """One check: how it stands, and what to do if it is a problem."""

    code: str
    is_problem: bool
    message: str
    what_to_do: str | None
    account_id: str | None
    sequence_id: str | None


@routes.get("/limits", needs=Role.VIEWER, scope="sequences:read")
async def check_planned(ask: Reader, workspace_id: Id) -> list[LimitFindingView]:
    """List where more is planned than the limits allow; empty: all of it keeps them."""
    found = await ask.read(
        lambda tx, now: check_limits(tx, now, workspace_id=workspace_id, account_ids=_accounts(ask))
    )
    return [show(LimitFindingView, each) for each in found]


@routes.post("/repair-limits", needs=Role.EDITOR, scope="sequences:write")
async def repair_planned(act: Writer, workspace_id: Id) -> LimitsRepaired:
    """Move what sequences planned beyond the limits to the next free times; what was sent stays."""

    def operation(tx: Tx, now: datetime) -> LimitsRepaired:
        found = repair_limits(
            tx, now, workspace_id=workspace_id, by=act.by, account_ids=_accounts(act)
        )
        moved = [each for each in found if each.now_at is not None]
        return LimitsRepaired(
            moved=len(moved),
            without_time=len(found) - len(moved),
            moves=[show(MessageMovedView, each) for each in found[:SHOWN]],
        )

    locks = await act.read(lambda tx, _: repair_locks(tx, workspace_id, _accounts(act)))
    return await act.write(operation, locks=locks)


@routes.get("/doctor", needs=Role.VIEWER, scope="sequences:read")
async def examine_outreach(ask: Reader, workspace_id: Id) -> list[DoctorFindingView]:
    """Walk the list of what can keep outreach from going out, with what to do."""
    found = await ask.read(
        lambda tx, now: examine(tx, now, workspace_id=workspace_id, account_ids=_accounts(ask))
    )
    return [show(DoctorFindingView, each) for each in found]


def _accounts(ask: ReadContext) -> frozenset[str] | None:
    """Return the accounts of a key with a list of them; None: all."""
    return None if ask.caller.accounts is None else frozenset(ask.caller.accounts)
