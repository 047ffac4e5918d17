"""An account's holidays: its own dates, and the public holidays of the countries that it keeps."""

from datetime import date, datetime

from pydantic import ConfigDict, Field

from cadenza.accounts import configure, holidays
from cadenza.accounts.holidays import HolidaysImported, NotImported
from cadenza.api.accounts import look_again, one
from cadenza.api.problems import invalid
from cadenza.api.queue_schemas import ValueView, show
from cadenza.api.request_context import Reader, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id, InputModel
from cadenza.people.model import Role
from cadenza.sql.tx import Tx

routes = Resource("account_holidays", "/workspaces/{workspace_id}/accounts/{account_id}/holidays")
LONGEST = 500_000  # characters of a calendar file
EXAMPLE = (
    "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20261225\r\nSUMMARY:Christmas Day\r\n"
    "RRULE:FREQ=YEARLY\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)


class HolidayView(ValueView):
    """A date on which the account writes to nobody."""

    day: date
    name: str
    calendar: str | None = Field(description="The country whose it is; null: the account's own")


class HolidaysInput(InputModel):
    """A calendar file, as text."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ics": EXAMPLE}]})
    ics: str = Field(max_length=LONGEST, description="iCalendar (RFC 5545)")


class HolidaysImportedView(Answer):
    """What was added."""

    added: list[HolidayView]
    there_already: int
    left_out: int = Field(description="Events that are no whole days")


@routes.get(needs=Role.VIEWER, scope="accounts:read")
async def list_holidays(ask: Reader, workspace_id: Id, account_id: Id) -> list[HolidayView]:
    """List the holidays of the next year."""

    def look(tx: Tx, now: datetime) -> list[HolidayView]:
        one(ask, tx, account_id)
        row = configure.find_account(tx, workspace_id, account_id)
        assert row is not None
        return [show(HolidayView, each) for each in holidays.list_holidays(now, row)]

    return await ask.read(look)


@routes.post("/import", needs=Role.ADMIN, scope="accounts:write")
async def import_holidays(
    act: Writer, workspace_id: Id, account_id: Id, body: HolidaysInput
) -> HolidaysImportedView:
    """Add the whole days of a calendar file to the account's holidays."""

    def operation(tx: Tx, now: datetime) -> HolidaysImportedView:
        one(act, tx, account_id)
        made = holidays.import_holidays(
            tx, now, workspace_id=workspace_id, account_id=account_id, ics=body.ics, by=act.by
        )
        if isinstance(made, NotImported):
            raise invalid("body.ics", made.message)
        assert isinstance(made, HolidaysImported)
        look_again(tx, workspace_id, account_id)
        return HolidaysImportedView(
            added=[show(HolidayView, each) for each in made.added],
            there_already=made.there_already,
            left_out=made.left_out,
        )

    return await act.write(operation, locks=[configure.lock_of(workspace_id, account_id)])
