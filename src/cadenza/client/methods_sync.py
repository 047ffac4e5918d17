"""A method for every operation of the HTTP API, for programs without an event loop: made by `cadenza.api.write_client`.

Do not change it by hand: a test compares it with the routes. Ids of the path come first, fields of a body and
the query by name; what they mean stands in `cadenza/client/types.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cadenza.client.wire import Event, File, SyncRequester, Told, part

if TYPE_CHECKING:
    from typing import Literal, Unpack

    import cadenza.client.types as shapes
    from cadenza.client.types import Instant


class Calls:
    """The operations of one kind at one place."""

    def __init__(self, asker: SyncRequester, at: str) -> None:
        self._asker = asker
        self._at = at


class AccountHolidays(Calls):
    """Account holidays, of one workspace."""

    def import_holidays(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.HolidaysInput],
    ) -> shapes.HolidaysImportedView:
        """Add the whole days of a calendar file to the account's holidays."""
        return self._asker.request(
            "POST",
            f"{self._at}/accounts/{part(account_id)}/holidays/import",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list_holidays(self, account_id: str, /) -> Sequence[shapes.HolidayView]:
        """List the holidays of the next year."""
        return self._asker.request("GET", f"{self._at}/accounts/{part(account_id)}/holidays")


class AccountUse(Calls):
    """Account use, of one workspace."""

    def show_use(self, account_id: str, /) -> shapes.AccountUseView:
        """Show what an account did in the last four weeks, and what is left of its limits."""
        return self._asker.request("GET", f"{self._at}/accounts/{part(account_id)}/use")


class Accounts(Calls):
    """Accounts, of one workspace."""

    def change(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.AccountChange],
    ) -> shapes.Account:
        """Change zone, hours, holidays, how late it may send, and what becomes of doubts."""
        return self._asker.request(
            "PATCH",
            f"{self._at}/accounts/{part(account_id)}",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def disconnect(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.DisconnectInput],
    ) -> shapes.Disconnected:
        """Wipe its credentials and cancel what it had still to send; its history stays."""
        return self._asker.request(
            "POST",
            f"{self._at}/accounts/{part(account_id)}/disconnect",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def lift(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.Account:
        """Let an account send again that was suspended because many recipients failed in a row."""
        return self._asker.request(
            "POST",
            f"{self._at}/accounts/{part(account_id)}/lift-suspension",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list(self) -> Sequence[shapes.Account]:
        """List the accounts with their health."""
        return self._asker.request("GET", f"{self._at}/accounts")

    def list_limits(self, account_id: str, /) -> shapes.Limits:
        """List an account's limits."""
        return self._asker.request("GET", f"{self._at}/accounts/{part(account_id)}/limits")

    def pause(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.Pause],
    ) -> shapes.Account:
        """Let nothing of the account be sent from now on."""
        return self._asker.request(
            "POST",
            f"{self._at}/accounts/{part(account_id)}/pause",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def resume(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.Resume],
    ) -> shapes.Account:
        """Let it send again; what came due in a pause or without a connection wants a choice."""
        return self._asker.request(
            "POST",
            f"{self._at}/accounts/{part(account_id)}/resume",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def set_limits(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.LimitsInput],
    ) -> shapes.Limits:
        """Replace an account's limits; what was used of them stays counted."""
        return self._asker.request(
            "PUT",
            f"{self._at}/accounts/{part(account_id)}/limits",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def show(self, account_id: str, /) -> shapes.Account:
        """Show one account."""
        return self._asker.request("GET", f"{self._at}/accounts/{part(account_id)}")


class Activity(Calls):
    """Activity, of one workspace."""

    def of_account(
        self, account_id: str, /, *, before: Instant | None = None, limit: int | None = None
    ) -> Sequence[shapes.EventView]:
        """Tell what happened to an account, and the calls for posts that it made."""
        return self._asker.request(
            "GET",
            f"{self._at}/accounts/{part(account_id)}/activity",
            query={"before": before, "limit": limit},
        )

    def of_post(
        self, post_id: str, /, *, before: Instant | None = None, limit: int | None = None
    ) -> Sequence[shapes.EventView]:
        """Tell what happened to a post and its deliveries."""
        return self._asker.request(
            "GET",
            f"{self._at}/posts/{part(post_id)}/activity",
            query={"before": before, "limit": limit},
        )


class Attention(Calls):
    """Attention, of one workspace."""

    def list_things(self) -> Sequence[shapes.AttentionItemView]:
        """List what wants a person: what is about to go wrong first."""
        return self._asker.request("GET", f"{self._at}/attention")

    def step(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.StepInput],
    ) -> shapes.StepResults:
        """Do one step for all of these; what is refused says why and changes nothing."""
        return self._asker.request(
            "POST",
            f"{self._at}/attention/steps",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class Audiences(Calls):
    """Audiences, of one workspace."""

    def add_members(
        self,
        audience_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.MembersInput],
    ) -> shapes.MembersView:
        """Put contacts and channels at the end of a list; who is there keeps the place."""
        return self._asker.request(
            "POST",
            f"{self._at}/audiences/{part(audience_id)}/members",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def change(
        self,
        audience_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.AudienceChange],
    ) -> shapes.AudienceView:
        """Rename an audience, or change a saved filter."""
        return self._asker.request(
            "PATCH",
            f"{self._at}/audiences/{part(audience_id)}",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def compare(self, audience_id: str, other_id: str, /) -> shapes.DifferenceView:
        """Count who is only here, only in the other audience, and in both."""
        return self._asker.request(
            "GET", f"{self._at}/audiences/{part(audience_id)}/difference/{part(other_id)}"
        )

    def create(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.AudienceInput],
    ) -> shapes.AudienceView:
        """Make a list, or save a filter."""
        return self._asker.request(
            "POST",
            f"{self._at}/audiences",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def delete(
        self,
        audience_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.AudienceDeleted:
        """Delete an audience; its contacts stay."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/audiences/{part(audience_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list(self) -> Sequence[shapes.AudienceView]:
        """List audiences with their sizes."""
        return self._asker.request("GET", f"{self._at}/audiences")

    def list_difference(
        self,
        audience_id: str,
        other_id: str,
        /,
        *,
        side: Literal["only_here", "only_there", "both"] | None = None,
        limit: int | None = None,
        most: int | None = None,
    ) -> Iterator[shapes.MemberView]:
        """List who is on one side of a difference."""
        return self._asker.pages(
            f"{self._at}/audiences/{part(audience_id)}/difference/{part(other_id)}/members",
            query={"side": side, "limit": limit},
            most=most,
        )

    def list_members(
        self, audience_id: str, /, *, limit: int | None = None, most: int | None = None
    ) -> Iterator[shapes.MemberView]:
        """List the members of an audience, in their order."""
        return self._asker.pages(
            f"{self._at}/audiences/{part(audience_id)}/members", query={"limit": limit}, most=most
        )

    def remove_members(
        self,
        audience_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.MembersInput],
    ) -> shapes.MembersView:
        """Take contacts and channels off a list."""
        return self._asker.request(
            "POST",
            f"{self._at}/audiences/{part(audience_id)}/remove-members",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def show(self, audience_id: str, /) -> shapes.AudienceView:
        """Show an audience with its size."""
        return self._asker.request("GET", f"{self._at}/audiences/{part(audience_id)}")


class ServerAudit(Calls):
    """Audit, of the whole installation."""

    def list_installation_audit(
        self,
        *,
        subject_id: str | None = None,
        actor: str | None = None,
        limit: int | None = None,
        most: int | None = None,
    ) -> Iterator[shapes.Entry]:
        """List sign-ins, passwords and other acts that belong to no workspace, newest first."""
        return self._asker.pages(
            f"{self._at}/system/audit",
            query={"subject_id": subject_id, "actor": actor, "limit": limit},
            most=most,
        )


class Audit(Calls):
    """Audit, of one workspace."""

    def list_audit(
        self,
        *,
        subject_id: str | None = None,
        actor: str | None = None,
        limit: int | None = None,
        most: int | None = None,
    ) -> Iterator[shapes.Entry]:
        """List who did what in a workspace, newest first."""
        return self._asker.pages(
            f"{self._at}/audit",
            query={"subject_id": subject_id, "actor": actor, "limit": limit},
            most=most,
        )


class Calendar(Calls):
    """Calendar, of one workspace."""

    def download_calendar(self) -> Iterator[bytes]:
        """Give out the calendar of a month ago to three months ahead as an iCalendar file."""
        return self._asker.download(f"{self._at}/calendar.ics")

    def list_feeds(self) -> Sequence[shapes.FeedView]:
        """List the addresses that calendar programs read by."""
        return self._asker.request("GET", f"{self._at}/calendar/feeds")

    def make_feed(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.FeedInput],
    ) -> shapes.FeedCreated:
        """Make an address for a calendar program; it is shown once and opens the calendar alone."""
        return self._asker.request(
            "POST",
            f"{self._at}/calendar/feeds",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def read_calendar(
        self,
        *,
        start: Instant | None = None,
        end: Instant | None = None,
        zone: str | None = None,
        account_id: Sequence[str] | None = None,
        free_slots: bool | None = None,
    ) -> shapes.CalendarView:
        """Show everything that is due between two instants, of all accounts."""
        return self._asker.request(
            "GET",
            f"{self._at}/calendar",
            query={
                "start": start,
                "end": end,
                "zone": zone,
                "account_id": account_id,
                "free_slots": free_slots,
            },
        )

    def revoke_feed(
        self,
        feed_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.FeedView:
        """End an address; whoever holds it reads nothing any more."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/calendar/feeds/{part(feed_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class Campaigns(Calls):
    """Campaigns, of one workspace."""

    def cancel(
        self,
        campaign_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.CampaignView:
        """End it now; what waits is canceled."""
        return self._asker.request(
            "POST",
            f"{self._at}/campaigns/{part(campaign_id)}/cancel",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def change(
        self,
        campaign_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.CampaignInput],
    ) -> shapes.CampaignView:
        """Change a campaign that has not begun."""
        return self._asker.request(
            "PUT",
            f"{self._at}/campaigns/{part(campaign_id)}",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def choose_winner(
        self,
        campaign_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.CampaignWinnerInput],
    ) -> shapes.CampaignView:
        """Send one of the versions that were tried to the rest of the audience."""
        return self._asker.request(
            "POST",
            f"{self._at}/campaigns/{part(campaign_id)}/winner",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def create(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.CampaignInput],
    ) -> shapes.CampaignView:
        """Make a draft; nothing is sent before it is started."""
        return self._asker.request(
            "POST",
            f"{self._at}/campaigns",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def delete(
        self,
        campaign_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.CampaignDeleted:
        """Delete a draft, or a campaign that has ended."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/campaigns/{part(campaign_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def duplicate(
        self,
        campaign_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.CampaignView:
        """Make a draft like it."""
        return self._asker.request(
            "POST",
            f"{self._at}/campaigns/{part(campaign_id)}/duplicate",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def follow_progress(self, campaign_id: str, /, *, last: str | None = None) -> Iterator[Event]:
        """Follow how far a campaign is: an event when something changed, at most one a second,
        until it ends.
        """
        return self._asker.follow(f"{self._at}/campaigns/{part(campaign_id)}/progress", last=last)

    def list(
        self, *, limit: int | None = None, most: int | None = None
    ) -> Iterator[shapes.CampaignView]:
        """List campaigns with their progress, the newest first."""
        return self._asker.pages(f"{self._at}/campaigns", query={"limit": limit}, most=most)

    def list_recipients(
        self,
        campaign_id: str,
        /,
        *,
        state: Literal[
            "scheduled", "sending", "sent", "failed", "unconfirmed", "missed", "skipped", "canceled"
        ]
        | None = None,
        vocabulary: Literal["pgboss"] | None = None,
        limit: int | None = None,
        most: int | None = None,
    ) -> Iterator[shapes.CampaignRecipientView]:
        """List recipients with what became of each, and why."""
        return self._asker.pages(
            f"{self._at}/campaigns/{part(campaign_id)}/recipients",
            query={"state": state, "vocabulary": vocabulary, "limit": limit},
            most=most,
        )

    def list_skipped(
        self, campaign_id: str, /, *, limit: int | None = None, most: int | None = None
    ) -> Iterator[shapes.CampaignSkippedView]:
        """List members of the audience for whom no message was made, and why."""
        return self._asker.pages(
            f"{self._at}/campaigns/{part(campaign_id)}/skipped", query={"limit": limit}, most=most
        )

    def pause(
        self,
        campaign_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.CampaignPauseInput],
    ) -> shapes.CampaignView:
        """Let nothing more of it leave until it is resumed; calls under way finish."""
        return self._asker.request(
            "POST",
            f"{self._at}/campaigns/{part(campaign_id)}/pause",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def purge(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.CampaignPurgeInput],
    ) -> shapes.CampaignPurgeView:
        """Remove what ended campaigns sent before a time; the ledger and the totals stay.
        `dry_run=true` counts.
        """
        return self._asker.request(
            "POST",
            f"{self._at}/campaigns/purge",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def resume(
        self,
        campaign_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.CampaignView:
        """Go on; what was sent or is unconfirmed is not sent again."""
        return self._asker.request(
            "POST",
            f"{self._at}/campaigns/{part(campaign_id)}/resume",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def retry_failed(
        self,
        campaign_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.CampaignView:
        """Send again to those for whom it failed."""
        return self._asker.request(
            "POST",
            f"{self._at}/campaigns/{part(campaign_id)}/retry-failed",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def send_to_remaining(
        self,
        campaign_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.CampaignView:
        """Send to those who joined the audience since; nobody gets it twice."""
        return self._asker.request(
            "POST",
            f"{self._at}/campaigns/{part(campaign_id)}/send-to-remaining",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def set_rate(
        self,
        campaign_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.CampaignRateInput],
    ) -> shapes.CampaignView:
        """Change how many leave in a minute, also while it runs."""
        return self._asker.request(
            "POST",
            f"{self._at}/campaigns/{part(campaign_id)}/rate",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def show(self, campaign_id: str, /) -> shapes.CampaignView:
        """Show a campaign and how far it is."""
        return self._asker.request("GET", f"{self._at}/campaigns/{part(campaign_id)}")

    def start(
        self,
        campaign_id: str,
        /,
        *,
        recipients: int | None = None,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.CampaignStartView:
        """Start it, or let it wait for its time; `dry_run=true` shows what that comes to."""
        return self._asker.request(
            "POST",
            f"{self._at}/campaigns/{part(campaign_id)}/start",
            query={"recipients": recipients},
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class Categories(Calls):
    """Categories, of one workspace."""

    def change(
        self,
        category_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.CategoryInput],
    ) -> shapes.CategoryView:
        """Replace what a category says; posts get changed hashtags when they are composed again."""
        return self._asker.request(
            "PUT",
            f"{self._at}/categories/{part(category_id)}",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def delete(
        self,
        category_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.CategoryDeleted:
        """Delete a category that nothing uses."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/categories/{part(category_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def fill_pool(
        self,
        category_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.PoolInput],
    ) -> shapes.PoolView:
        """Let the pool hold exactly these; those that stay keep their counts."""
        return self._asker.request(
            "PUT",
            f"{self._at}/categories/{part(category_id)}/pool",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list(self) -> Sequence[shapes.CategoryView]:
        """List every category, brands first."""
        return self._asker.request("GET", f"{self._at}/categories")

    def make(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.CategoryInput],
    ) -> shapes.CategoryView:
        """Make a category, or a brand."""
        return self._asker.request(
            "POST",
            f"{self._at}/categories",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def show(self, category_id: str, /) -> shapes.CategoryView:
        """Show one category."""
        return self._asker.request("GET", f"{self._at}/categories/{part(category_id)}")

    def show_pool(self, category_id: str, /) -> shapes.PoolView:
        """Show the pool in the order in which its files will be picked."""
        return self._asker.request("GET", f"{self._at}/categories/{part(category_id)}/pool")


class ServerChannels(Calls):
    """Channels, of the whole installation."""

    def list_channels(self) -> Sequence[shapes.ChannelView]:
        """List what each channel takes, for a composer; an account may have its own limits
        (`preview`).
        """
        return self._asker.request("GET", f"{self._at}/channels")


class Connect(Calls):
    """Connect, of one workspace."""

    def begin(
        self,
        provider: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ConnectInput],
    ) -> shapes.Connection:
        """Start connecting: it is done at once, or the person is sent to the network or asked for
        more.
        """
        return self._asker.request(
            "POST",
            f"{self._at}/connect/{part(provider)}",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def complete(
        self, *, idempotency_key: str | None = None, **body: Unpack[shapes.Complete]
    ) -> shapes.Connection:
        """Finish what one began, with what the network sent back or asked for; it cannot be tried."""
        return self._asker.request(
            "POST", f"{self._at}/connect/complete", json=body, idempotency_key=idempotency_key
        )

    def list_networks(self) -> Sequence[shapes.Network]:
        """List the networks, and what a person is asked for."""
        return self._asker.request("GET", f"{self._at}/connect")

    def show_begun(self, connection_id: str, /) -> shapes.BegunConnection:
        """Tell how a connection goes that one began, perhaps elsewhere; it is known for ten
        minutes.
        """
        return self._asker.request("GET", f"{self._at}/connect/begun/{part(connection_id)}")


class ServerConnectNotices(Calls):
    """Connect notices, of the whole installation."""

    def notify_signed_in(self, state: str, /) -> shapes.Notified:
        """Take what a network tells of a sign-in on its own page; the address is good once."""
        return self._asker.request("POST", f"{self._at}/connect/notify/{part(state)}")


class ContactExports(Calls):
    """Contact exports, of one workspace."""

    def begin_contact_export(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ContactExportInput],
    ) -> shapes.ContactExportView:
        """Write contacts into a file in the background; what is written can be imported again."""
        return self._asker.request(
            "POST",
            f"{self._at}/contact-exports",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def download_contact_export(self, contact_export_id: str, /) -> Iterator[bytes]:
        """Download an export that is ready."""
        return self._asker.download(f"{self._at}/contact-exports/{part(contact_export_id)}/file")

    def list_contact_exports(self) -> Sequence[shapes.ContactExportView]:
        """List exports, newest first."""
        return self._asker.request("GET", f"{self._at}/contact-exports")

    def show_contact_export(self, contact_export_id: str, /) -> shapes.ContactExportView:
        """Show how far an export is."""
        return self._asker.request("GET", f"{self._at}/contact-exports/{part(contact_export_id)}")


class ContactFields(Calls):
    """Contact fields, of one workspace."""

    def delete_field(
        self,
        field_key: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.ContactFieldDeleted:
        """Delete a field; every contact loses its value."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/contact-fields/{part(field_key)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list_fields(self) -> Sequence[shapes.ContactFieldView]:
        """List the workspace's own fields."""
        return self._asker.request("GET", f"{self._at}/contact-fields")

    def save_field(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ContactFieldInput],
    ) -> shapes.ContactFieldView:
        """Make a field, or change its label and choices."""
        return self._asker.request(
            "POST",
            f"{self._at}/contact-fields",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class ContactImports(Calls):
    """Contact imports, of one workspace."""

    def cancel_import(
        self,
        import_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.ImportView:
        """Stop an import; what it wrote stays, and can be undone."""
        return self._asker.request(
            "POST",
            f"{self._at}/contact-imports/{part(import_id)}/cancel",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def download_report(self, import_id: str, /) -> Iterator[bytes]:
        """Download the report as CSV."""
        return self._asker.download(f"{self._at}/contact-imports/{part(import_id)}/report")

    def list_imports(self) -> Sequence[shapes.ImportView]:
        """List imports, newest first."""
        return self._asker.request("GET", f"{self._at}/contact-imports")

    def list_rows(
        self, import_id: str, /, *, after: int | None = None, limit: int | None = None
    ) -> shapes.ImportRows:
        """List what became of rows: all of them in a dry run, else those not simply created."""
        return self._asker.request(
            "GET",
            f"{self._at}/contact-imports/{part(import_id)}/rows",
            query={"after": after, "limit": limit},
        )

    def show_import(self, import_id: str, /) -> shapes.ImportView:
        """Show how far an import is."""
        return self._asker.request("GET", f"{self._at}/contact-imports/{part(import_id)}")

    def start_import(
        self,
        import_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ImportOptions],
    ) -> shapes.ImportView:
        """Import the file in the background. What its columns are is remembered for the next one."""
        return self._asker.request(
            "POST",
            f"{self._at}/contact-imports/{part(import_id)}/start",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def try_import(
        self,
        import_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ImportOptions],
    ) -> shapes.ImportView:
        """Read the whole file and report on every row, without changing a contact."""
        return self._asker.request(
            "POST",
            f"{self._at}/contact-imports/{part(import_id)}/try",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def undo_import(
        self,
        import_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.ImportView:
        """Take an import back within a day; contacts that somebody changed since are left."""
        return self._asker.request(
            "POST",
            f"{self._at}/contact-imports/{part(import_id)}/undo",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def upload_file(
        self, file: File, /, *, kind: str | None = None, told: Told | None = None
    ) -> shapes.ImportView:
        """Upload a CSV or XLSX file; nothing is imported yet. The answer suggests what its columns
        are.
        """
        return self._asker.upload(
            f"{self._at}/contact-imports", file, fields={"kind": kind}, told=told
        )


class Contacts(Calls):
    """Contacts, of one workspace."""

    def add_note(
        self,
        contact_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.NoteInput],
    ) -> shapes.NoteView:
        """Write a note about a contact."""
        return self._asker.request(
            "POST",
            f"{self._at}/contacts/{part(contact_id)}/notes",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def change(
        self,
        contact_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ContactInput],
    ) -> shapes.ContactView:
        """Change what is given; addresses and tags, if given, are all that there are."""
        return self._asker.request(
            "PATCH",
            f"{self._at}/contacts/{part(contact_id)}",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def count(self, **body: Unpack[shapes.ContactSearch]) -> shapes.ContactCount:
        """Count the contacts that every condition holds for."""
        return self._asker.request("POST", f"{self._at}/contacts/count", json=body)

    def create(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ContactInput],
    ) -> shapes.ContactView:
        """Make a contact. An address belongs to one contact only."""
        return self._asker.request(
            "POST",
            f"{self._at}/contacts",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def delete(
        self,
        contact_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.ContactDeleted:
        """Delete a contact with its addresses, tags, fields and notes; lists lose it too."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/contacts/{part(contact_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def erase(
        self,
        contact_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.PersonErased:
        """Erase a person everywhere, for good; a salted hash keeps them from being written to
        again.
        """
        return self._asker.request(
            "POST",
            f"{self._at}/contacts/{part(contact_id)}/erase",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list(
        self,
        *,
        search: str | None = None,
        tag: str | None = None,
        consent: shapes.Consent | None = None,
        channel: str | None = None,
        company: str | None = None,
        country: str | None = None,
        audience_id: str | None = None,
        limit: int | None = None,
        most: int | None = None,
    ) -> Iterator[shapes.ContactView]:
        """List contacts, newest first. Search finds how names, companies and addresses begin."""
        return self._asker.pages(
            f"{self._at}/contacts",
            query={
                "search": search,
                "tag": tag,
                "consent": consent,
                "channel": channel,
                "company": company,
                "country": country,
                "audience_id": audience_id,
                "limit": limit,
            },
            most=most,
        )

    def list_notes(self, contact_id: str, /) -> Sequence[shapes.NoteView]:
        """List the notes about a contact, newest first."""
        return self._asker.request("GET", f"{self._at}/contacts/{part(contact_id)}/notes")

    def merge(
        self,
        contact_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.MergeInput],
    ) -> shapes.MergeView:
        """Merge contacts that are one person into this one; with `dry_run` it is the preview."""
        return self._asker.request(
            "POST",
            f"{self._at}/contacts/{part(contact_id)}/merge",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def search(
        self, *, limit: int | None = None, **body: Unpack[shapes.ContactSearch]
    ) -> shapes.ContactsFound:
        """List the contacts that every condition holds for, newest first."""
        return self._asker.request(
            "POST", f"{self._at}/contacts/search", json=body, query={"limit": limit}
        )

    def show(self, contact_id: str, /) -> shapes.ContactView:
        """Show a contact; the id of one that was merged leads to the person."""
        return self._asker.request("GET", f"{self._at}/contacts/{part(contact_id)}")

    def show_data(self, contact_id: str, /) -> shapes.PersonData:
        """Tell everything that is stored about one person: what they are sent when they ask for
        it.
        """
        return self._asker.request("GET", f"{self._at}/contacts/{part(contact_id)}/data")

    def tag(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.TagInput],
    ) -> shapes.Tagged:
        """Add and remove tags of many contacts."""
        return self._asker.request(
            "POST",
            f"{self._at}/contacts/tags",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class Deliveries(Calls):
    """Deliveries, of one workspace."""

    def cancel(
        self,
        delivery_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.Reason],
    ) -> shapes.Delivery:
        """Cancel it; a call that is under way cannot be called back."""
        return self._asker.request(
            "POST",
            f"{self._at}/deliveries/{part(delivery_id)}/cancel",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def decide(
        self,
        delivery_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.DecisionInput],
    ) -> shapes.Delivery:
        """Settle an unconfirmed send: it is there, or it is not and is to be sent again."""
        return self._asker.request(
            "POST",
            f"{self._at}/deliveries/{part(delivery_id)}/decide",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def explain(self, delivery_id: str, /, *, at: Instant | None = None) -> shapes.Explained:
        """Say why it does not go, when it may, and who can change that; what is due later is
        judged then.
        """
        return self._asker.request(
            "GET", f"{self._at}/deliveries/{part(delivery_id)}/explain", query={"at": at}
        )

    def list(
        self,
        *,
        state: Sequence[shapes.DeliveryState] | None = None,
        account_id: str | None = None,
        post_id: str | None = None,
        reason_code: Sequence[shapes.Code] | None = None,
        order: Literal["soonest", "newest", "happened"] | None = None,
        limit: int | None = None,
        most: int | None = None,
    ) -> Iterator[shapes.Delivery]:
        """List deliveries in the order in which they are due, the other way round, or as things
        happened.
        """
        return self._asker.pages(
            f"{self._at}/deliveries",
            query={
                "state": state,
                "account_id": account_id,
                "post_id": post_id,
                "reason_code": reason_code,
                "order": order,
                "limit": limit,
            },
            most=most,
        )

    def list_attempts(self, delivery_id: str, /) -> Sequence[shapes.Attempt]:
        """List the calls that were made for it, each with a sentence and what may be done about
        it.
        """
        return self._asker.request("GET", f"{self._at}/deliveries/{part(delivery_id)}/attempts")

    def list_exchanges(self, delivery_id: str, /) -> Sequence[shapes.Exchange]:
        """List what was said with the network about it in the last weeks, without secrets."""
        return self._asker.request("GET", f"{self._at}/deliveries/{part(delivery_id)}/exchanges")

    def publish_now(
        self,
        delivery_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.Delivery:
        """Make it due now, before others; never past a stop, a pause, approval or a budget."""
        return self._asker.request(
            "POST",
            f"{self._at}/deliveries/{part(delivery_id)}/publish-now",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def retry(
        self,
        delivery_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.Delivery:
        """Try what failed or was missed once more."""
        return self._asker.request(
            "POST",
            f"{self._at}/deliveries/{part(delivery_id)}/retry",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def show(self, delivery_id: str, /) -> shapes.Delivery:
        """Show one delivery."""
        return self._asker.request("GET", f"{self._at}/deliveries/{part(delivery_id)}")


class DomainCheck(Calls):
    """Domain check, of one workspace."""

    def show_domain_check(
        self,
        *,
        account_id: str | None = None,
        domain: str | None = None,
        selector: str | None = None,
    ) -> shapes.DomainCheck:
        """Look up what is published for a domain, or for the one that an account sends from."""
        return self._asker.request(
            "GET",
            f"{self._at}/domain-check",
            query={"account_id": account_id, "domain": domain, "selector": selector},
        )


class Events(Calls):
    """Events, of one workspace."""

    def follow(self, *, last: str | None = None) -> Iterator[Event]:
        """Follow what happens in a workspace, from now on or from where one was."""
        return self._asker.follow(f"{self._at}/events", last=last)


class Exports(Calls):
    """Exports, of one workspace."""

    def begin_export(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.ExportView:
        """Pack an export in the background; one that is at work already is answered instead."""
        return self._asker.request(
            "POST",
            f"{self._at}/exports",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def download_export(self, export_id: str, /) -> Iterator[bytes]:
        """Download an export that is ready."""
        return self._asker.download(f"{self._at}/exports/{part(export_id)}/file")

    def export(self) -> Iterator[bytes]:
        """Give out everything that is the workspace's own; `posts.csv` in it can be imported
        again.
        """
        return self._asker.download(f"{self._at}/export")

    def list_exports(self) -> Sequence[shapes.ExportView]:
        """List exports that are at work or can be downloaded, newest first."""
        return self._asker.request("GET", f"{self._at}/exports")

    def show_export(self, export_id: str, /) -> shapes.ExportView:
        """Show how far an export is."""
        return self._asker.request("GET", f"{self._at}/exports/{part(export_id)}")


class ExternalSends(Calls):
    """External sends, of one workspace."""

    def record_external_sends(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ExternalSendsInput],
    ) -> shapes.ExternalSendsView:
        """Record what the account sent elsewhere: it counts against its limits from now on."""
        return self._asker.request(
            "POST",
            f"{self._at}/accounts/{part(account_id)}/external-sends",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def take_back_external_sends(
        self,
        account_id: str,
        external_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.ExternalSendsView:
        """Take a record back: it was a mistake, and counts no more."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/accounts/{part(account_id)}/external-sends/{part(external_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class Imports(Calls):
    """Imports, of one workspace."""

    def import_posts(
        self,
        file: File,
        /,
        *,
        mapping: str | None = None,
        zone: str | None = None,
        all_or_nothing: str | None = None,
        dry_run: bool = False,
        told: Told | None = None,
    ) -> shapes.Imported:
        """Make the rows of a CSV file posts; a bad row stops no other unless all or nothing is
        wanted.
        """
        return self._asker.upload(
            f"{self._at}/imports",
            file,
            fields={"mapping": mapping, "zone": zone, "all_or_nothing": all_or_nothing},
            dry_run=dry_run,
            told=told,
        )

    def list_columns(self) -> Sequence[shapes.ColumnView]:
        """List the columns that are read, for a mapping."""
        return self._asker.request("GET", f"{self._at}/imports/columns")


class Inbound(Calls):
    """Inbound, of one workspace."""

    def add_inbound_source(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.InboundSourceInput],
    ) -> shapes.InboundSourceCreated:
        """Listen to a program: the answer names the address and what to do at the provider."""
        return self._asker.request(
            "POST",
            f"{self._at}/inbound-sources",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list_inbound_sources(self) -> Sequence[shapes.InboundSourceView]:
        """List the programs that tell what became of messages."""
        return self._asker.request("GET", f"{self._at}/inbound-sources")

    def remove_inbound_source(
        self,
        source_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.InboundSourceRemoved:
        """Listen to it no more."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/inbound-sources/{part(source_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class Inbox(Calls):
    """Inbox, of one workspace."""

    def change_conversation(
        self,
        conversation_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ConversationChange],
    ) -> shapes.ConversationView:
        """Close or reopen it, label it, or hand it to a member."""
        return self._asker.request(
            "PATCH",
            f"{self._at}/inbox/{part(conversation_id)}",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list_conversations(
        self,
        *,
        state: shapes.ConversationState | None = None,
        label: shapes.ConversationLabel | None = None,
        assignee: str | None = None,
        account: str | None = None,
        limit: int | None = None,
        most: int | None = None,
    ) -> Iterator[shapes.ConversationView]:
        """List conversations, those with the newest message first."""
        return self._asker.pages(
            f"{self._at}/inbox",
            query={
                "state": state,
                "label": label,
                "assignee": assignee,
                "account": account,
                "limit": limit,
            },
            most=most,
        )

    def reply(
        self,
        conversation_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ReplyInput],
    ) -> shapes.ReplySent:
        """Answer by the same account, in the same thread, under the account's limits."""
        return self._asker.request(
            "POST",
            f"{self._at}/inbox/{part(conversation_id)}/reply",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def show_conversation(self, conversation_id: str, /) -> shapes.ThreadView:
        """Show a conversation with all that was written."""
        return self._asker.request("GET", f"{self._at}/inbox/{part(conversation_id)}")

    def show_results(self) -> Sequence[shapes.AccountResults]:
        """Show what came back to each account in the last 30 days: replies, bounces, complaints."""
        return self._asker.request("GET", f"{self._at}/inbox/accounts")


class ServerIntake(Calls):
    """Intake, of the whole installation."""

    def receive_events(self, source_id: str, /) -> shapes.EventsReceived:
        """Take events of a provider, signed or with the secret; a repetition changes nothing."""
        return self._asker.request("POST", f"{self._at}/in/{part(source_id)}")


class ServerJobs(Calls):
    """Jobs, of the whole installation."""

    def cancel(
        self,
        job_id: str,
        /,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.CancelJob],
    ) -> shapes.JobChanged:
        """Cancel a waiting job; ask a running one to stop."""
        return self._asker.request(
            "POST",
            f"{self._at}/jobs/{part(job_id)}/cancel",
            json=body,
            idempotency_key=idempotency_key,
        )

    def list(
        self,
        *,
        queue: str | None = None,
        task: str | None = None,
        state: Sequence[shapes.State] | None = None,
        tag: str | None = None,
        lane: str | None = None,
        schedule: str | None = None,
        before: int | None = None,
        limit: int | None = None,
    ) -> shapes.JobPage:
        """List jobs, newest first."""
        return self._asker.request(
            "GET",
            f"{self._at}/jobs",
            query={
                "queue": queue,
                "task": task,
                "state": state,
                "tag": tag,
                "lane": lane,
                "schedule": schedule,
                "before": before,
                "limit": limit,
            },
        )

    def list_gates(self) -> Sequence[shapes.GateView]:
        """List the queues and lanes that are or were paused, parked or limited."""
        return self._asker.request("GET", f"{self._at}/jobs/gates")

    def list_queues(self) -> Sequence[shapes.JobQueueView]:
        """List the queues with their counts."""
        return self._asker.request("GET", f"{self._at}/jobs/queues")

    def list_schedules(self) -> Sequence[shapes.JobScheduleView]:
        """List the recurring jobs."""
        return self._asker.request("GET", f"{self._at}/schedules")

    def pause_queue(
        self,
        queue: str,
        /,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.PauseQueue],
    ) -> shapes.GateView:
        """Claim nothing more of a queue or of one lane of it, on all machines, over restarts."""
        return self._asker.request(
            "POST",
            f"{self._at}/jobs/queues/{part(queue)}/pause",
            json=body,
            idempotency_key=idempotency_key,
        )

    def pause_schedule(
        self, name: str, /, *, idempotency_key: str | None = None
    ) -> shapes.JobScheduleView:
        """Fire nothing of a schedule until it is resumed."""
        return self._asker.request(
            "POST", f"{self._at}/schedules/{part(name)}/pause", idempotency_key=idempotency_key
        )

    def preview_schedule(
        self, name: str, /, *, n: int | None = None
    ) -> Sequence[shapes.Occurrence]:
        """Show the next occurrences, marked where clocks change."""
        return self._asker.request(
            "GET", f"{self._at}/schedules/{part(name)}/preview", query={"n": n}
        )

    def redrive(
        self, *, idempotency_key: str | None = None, **body: Unpack[shapes.Redrive]
    ) -> shapes.Changed:
        """Bring failed jobs back."""
        return self._asker.request(
            "POST", f"{self._at}/jobs/redrive", json=body, idempotency_key=idempotency_key
        )

    def resume_queue(
        self,
        queue: str,
        /,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ResumeQueue],
    ) -> shapes.GateView:
        """Open a queue, or one lane of it, again."""
        return self._asker.request(
            "POST",
            f"{self._at}/jobs/queues/{part(queue)}/resume",
            json=body,
            idempotency_key=idempotency_key,
        )

    def resume_schedule(
        self, name: str, /, *, idempotency_key: str | None = None
    ) -> shapes.JobScheduleView:
        """Let a schedule fire again."""
        return self._asker.request(
            "POST", f"{self._at}/schedules/{part(name)}/resume", idempotency_key=idempotency_key
        )

    def retry(self, job_id: str, /, *, idempotency_key: str | None = None) -> shapes.JobChanged:
        """Run a finished job again, or a waiting one now."""
        return self._asker.request(
            "POST", f"{self._at}/jobs/{part(job_id)}/retry", idempotency_key=idempotency_key
        )

    def show(self, job_id: str, /) -> shapes.JobView:
        """Show one job."""
        return self._asker.request("GET", f"{self._at}/jobs/{part(job_id)}")

    def why(self, job_id: str, /) -> shapes.WhyView:
        """Say why a job does not run now, when it may, and who can change that."""
        return self._asker.request("GET", f"{self._at}/jobs/{part(job_id)}/why")


class ServerKey(Calls):
    """Key, of the whole installation."""

    def show_own(self) -> shapes.OwnKey:
        """Show the key that asks: its workspace, and what it may do there."""
        return self._asker.request("GET", f"{self._at}/key")


class Keys(Calls):
    """Keys, of one workspace."""

    def list(self) -> Sequence[shapes.KeyView]:
        """List the keys, also those that ended."""
        return self._asker.request("GET", f"{self._at}/keys")

    def make(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.NewKey],
    ) -> shapes.KeyCreated:
        """Make a key; it is shown once."""
        return self._asker.request(
            "POST",
            f"{self._at}/keys",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def revoke(
        self,
        key_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.KeyEnded:
        """End a key at once."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/keys/{part(key_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class MailboxImports(Calls):
    """Mailbox imports, of one workspace."""

    def import_mailboxes(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.MailboxImportInput],
    ) -> shapes.MailboxImportView:
        """Connect many mailboxes: each is signed in to in the background; ask for the import to
        see how it goes.
        """
        return self._asker.request(
            "POST",
            f"{self._at}/mailbox-imports",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def show_mailbox_import(self, mailbox_import_id: str, /) -> shapes.MailboxImportView:
        """Show what became of each row."""
        return self._asker.request("GET", f"{self._at}/mailbox-imports/{part(mailbox_import_id)}")


class Mailboxes(Calls):
    """Mailboxes, of one workspace."""

    def remove_mailbox(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.MailboxRemoved:
        """Read the mailbox no more; what was read stays."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/accounts/{part(account_id)}/mailbox",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def set_mailbox(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.MailboxInput],
    ) -> shapes.MailboxView:
        """Sign in once, then read the mailbox from now on; nothing in it is changed."""
        return self._asker.request(
            "PUT",
            f"{self._at}/accounts/{part(account_id)}/mailbox",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def show_mailbox(self, account_id: str, /) -> shapes.MailboxView:
        """Show where replies and bounces of an account are read, and whether that works."""
        return self._asker.request("GET", f"{self._at}/accounts/{part(account_id)}/mailbox")


class ServerMe(Calls):
    """Me, of the whole installation."""

    def change_me(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.Profile],
    ) -> shapes.Me:
        """Change one's name, zone, or first day of the week."""
        return self._asker.request(
            "PATCH",
            f"{self._at}/me",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def change_own_password(self, **body: Unpack[shapes.PasswordChange]) -> None:
        """Change the password; every other session ends."""
        self._asker.request("POST", f"{self._at}/me/password", json=body)

    def confirm_second_factor(self, **body: Unpack[shapes.CodeInput]) -> shapes.Recovery:
        """Switch it on with a first code; every other session ends, and recovery codes are shown
        once.
        """
        return self._asker.request("POST", f"{self._at}/me/second-factor/confirm", json=body)

    def end_other_sessions(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.Ended:
        """End every session but this one."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/me/sessions",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def end_session(
        self,
        session_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        """End one session."""
        self._asker.request(
            "DELETE",
            f"{self._at}/me/sessions/{part(session_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list_sessions(self) -> Sequence[shapes.SessionView]:
        """List where one is signed in."""
        return self._asker.request("GET", f"{self._at}/me/sessions")

    def propose_second_factor(self, **body: Unpack[shapes.PasswordInput]) -> shapes.Proposed:
        """Get a new secret for an authenticator app; it counts once a first code has confirmed it."""
        return self._asker.request("POST", f"{self._at}/me/second-factor", json=body)

    def show_me(self) -> shapes.Me:
        """Say who one is, and which workspaces one is in."""
        return self._asker.request("GET", f"{self._at}/me")

    def switch_off_second_factor(self, **body: Unpack[shapes.CodeInput]) -> None:
        """Switch it off with one more code; every other session ends."""
        self._asker.request("POST", f"{self._at}/me/second-factor/off", json=body)


class Media(Calls):
    """Media, of one workspace."""

    def delete(
        self,
        media_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.MediaDeleted:
        """Delete a file; refused while a post that is to go out, or a pool, needs it."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/media/{part(media_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def describe(
        self,
        media_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.MediaChange],
    ) -> shapes.MediaView:
        """Describe or rename a file; posts with words of their own keep them."""
        return self._asker.request(
            "PATCH",
            f"{self._at}/media/{part(media_id)}",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def download(self, media_id: str, /) -> Iterator[bytes]:
        """Give out the file itself, whole or a range of it, as a download."""
        return self._asker.download(f"{self._at}/media/{part(media_id)}/file")

    def fetch(
        self, *, idempotency_key: str | None = None, **body: Unpack[shapes.MediaAddress]
    ) -> shapes.MediaUploaded:
        """Fetch a file from its address into the library, up to 50 MB; private addresses are never
        asked.
        """
        return self._asker.request(
            "POST", f"{self._at}/media/fetch", json=body, idempotency_key=idempotency_key
        )

    def get_fitted(self, media_id: str, change: str, /) -> Iterator[bytes]:
        """Give out a picture as a network gets it; a preview says which there are."""
        return self._asker.download(f"{self._at}/media/{part(media_id)}/fitted/{part(change)}")

    def get_thumbnail(self, media_id: str, /) -> Iterator[bytes]:
        """Give out its small picture."""
        return self._asker.download(f"{self._at}/media/{part(media_id)}/thumbnail")

    def list(
        self,
        *,
        kind: shapes.MediaKind | None = None,
        limit: int | None = None,
        most: int | None = None,
    ) -> Iterator[shapes.MediaView]:
        """List the library, the newest first."""
        return self._asker.pages(
            f"{self._at}/media", query={"kind": kind, "limit": limit}, most=most
        )

    def show(self, media_id: str, /) -> shapes.MediaDetailed:
        """Show one file and the posts that show it."""
        return self._asker.request("GET", f"{self._at}/media/{part(media_id)}")

    def upload(
        self, file: File, /, *, alt: str | None = None, told: Told | None = None
    ) -> shapes.MediaUploaded:
        """Take a file in. The same content again is the same file, so repeating an upload is
        harmless.
        """
        return self._asker.upload(f"{self._at}/media", file, fields={"alt": alt}, told=told)


class Messages(Calls):
    """Messages, of one workspace."""

    def send(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.MessageInput],
    ) -> shapes.MessageView:
        """Send one template to one recipient, under the account's limits; repeat it safely with an
        Idempotency-Key.
        """
        return self._asker.request(
            "POST",
            f"{self._at}/messages",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class Notices(Calls):
    """Notices, of one workspace."""

    def choose_notices(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ChoicesInput],
    ) -> shapes.Choices:
        """Choose how to hear of topics."""
        return self._asker.request(
            "PUT",
            f"{self._at}/notices/choices",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def drop_webhook(
        self,
        webhook_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.WebhookDeleted:
        """Tell it no more; what waits for it is dropped."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/webhooks/{part(webhook_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def drop_webhook_secret(
        self,
        webhook_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.WebhookSecrets:
        """Sign with the newest secret alone: the receiver has changed over, or the older one
        leaked.
        """
        return self._asker.request(
            "DELETE",
            f"{self._at}/webhooks/{part(webhook_id)}/secret",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list_webhooks(self) -> Sequence[shapes.Webhook]:
        """List the programs that are told."""
        return self._asker.request("GET", f"{self._at}/webhooks")

    def make_webhook(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.NewWebhook],
    ) -> shapes.WebhookCreated:
        """Tell a program from now on; the signing secret is shown once."""
        return self._asker.request(
            "POST",
            f"{self._at}/webhooks",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def renew_webhook_secret(
        self,
        webhook_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.WebhookCreated:
        """Sign with a new secret beside the one of now, so that the receiver can change over in
        its own time.
        """
        return self._asker.request(
            "POST",
            f"{self._at}/webhooks/{part(webhook_id)}/secret",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def resume_webhook(
        self,
        webhook_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.WebhookAgain:
        """Tell a program again that was given up; what happened meanwhile is not told."""
        return self._asker.request(
            "POST",
            f"{self._at}/webhooks/{part(webhook_id)}/resume",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def show_choices(self) -> shapes.Choices:
        """Show how one hears of each topic."""
        return self._asker.request("GET", f"{self._at}/notices/choices")


class Outreach(Calls):
    """Outreach, of one workspace."""

    def check_planned(self) -> Sequence[shapes.LimitFindingView]:
        """List where more is planned than the limits allow; empty: all of it keeps them."""
        return self._asker.request("GET", f"{self._at}/outreach/limits")

    def examine_outreach(self) -> Sequence[shapes.DoctorFindingView]:
        """Walk the list of what can keep outreach from going out, with what to do."""
        return self._asker.request("GET", f"{self._at}/outreach/doctor")

    def repair_planned(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.LimitsRepaired:
        """Move what sequences planned beyond the limits to the next free times; what was sent
        stays.
        """
        return self._asker.request(
            "POST",
            f"{self._at}/outreach/repair-limits",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class ServerPasses(Calls):
    """Passes, of the whole installation."""

    def run_generation(self, *, seconds: float | None = None) -> shapes.GeneratedAll:
        """Generate for every workspace whose night has come."""
        return self._asker.request(
            "POST", f"{self._at}/drafts/generate", query={"seconds": seconds}
        )

    def run_publishing(self, *, seconds: float | None = None) -> shapes.Published:
        """Send what is due now, of all workspaces."""
        return self._asker.request("POST", f"{self._at}/publishing/run", query={"seconds": seconds})


class People(Calls):
    """People, of one workspace."""

    def change_role(
        self,
        member_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.RoleInput],
    ) -> shapes.Member:
        """Give a member another role, up to one's own; the last owner stays one."""
        return self._asker.request(
            "PUT",
            f"{self._at}/members/{part(member_id)}/role",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def invite(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.Invite],
    ) -> shapes.InvitationCreated:
        """Invite an address; the mail carries a link that works once, for a week."""
        return self._asker.request(
            "POST",
            f"{self._at}/invitations",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def leave(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.Removed:
        """Leave the workspace oneself."""
        return self._asker.request(
            "POST",
            f"{self._at}/leave",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list_invitations(self) -> Sequence[shapes.Invitation]:
        """List the open invitations."""
        return self._asker.request("GET", f"{self._at}/invitations")

    def list_members(self) -> Sequence[shapes.Member]:
        """List the members."""
        return self._asker.request("GET", f"{self._at}/members")

    def remove_member(
        self,
        member_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.Removed:
        """Let a member go; the keys they made end."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/members/{part(member_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def revoke_invitation(
        self,
        invitation_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.Removed:
        """Take an open invitation back."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/invitations/{part(invitation_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class Posts(Calls):
    """Posts, of one workspace."""

    def approve(
        self,
        post_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ApproveInput],
    ) -> shapes.ApprovedView:
        """Approve what the post says now; what was planned of it goes in the pipeline."""
        return self._asker.request(
            "POST",
            f"{self._at}/posts/{part(post_id)}/approve",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def approve_and_publish_now(
        self,
        post_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ApproveAndPublishInput],
    ) -> shapes.PublishingView:
        """Approve what the post says and send it now."""
        return self._asker.request(
            "POST",
            f"{self._at}/posts/{part(post_id)}/approve-and-publish-now",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def cancel(
        self,
        post_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.CancelInput],
    ) -> shapes.CanceledView:
        """Cancel it without deleting it; it keeps its approval."""
        return self._asker.request(
            "POST",
            f"{self._at}/posts/{part(post_id)}/cancel",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def check_draft(self, **body: Unpack[shapes.DraftCheck]) -> shapes.Checked:
        """Say what would go wrong with an unsaved post; that nobody approved it yet is not
        counted.
        """
        return self._asker.request("POST", f"{self._at}/posts/check", json=body)

    def check_saved(self, post_id: str, /, **body: Unpack[shapes.CheckInput]) -> shapes.Checked:
        """Say what would go wrong with a saved post, where it is planned or elsewhere."""
        return self._asker.request("POST", f"{self._at}/posts/{part(post_id)}/check", json=body)

    def compose(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ComposeInput],
    ) -> shapes.Composed:
        """Save words and queue, time or publish them at once; with `dry_run`, see what it would
        come to.
        """
        return self._asker.request(
            "POST",
            f"{self._at}/posts/compose",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def create(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.PostInput],
    ) -> shapes.PostSaved:
        """Write a post; where and when it goes is said by the queue, `schedule` or `publish-now`."""
        return self._asker.request(
            "POST",
            f"{self._at}/posts",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def delete(
        self,
        post_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.PostDeleted:
        """Delete a post and cancel what waits of it; refused while it is being sent."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/posts/{part(post_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def edit(
        self,
        post_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.PostChange],
    ) -> shapes.PostSaved:
        """Change a post that you have seen, and what waits of it; an approval of other words is
        gone.
        """
        return self._asker.request(
            "PATCH",
            f"{self._at}/posts/{part(post_id)}",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list(
        self,
        *,
        state: Sequence[shapes.PostState] | None = None,
        account_id: str | None = None,
        channel: shapes.Channel | None = None,
        category_id: str | None = None,
        label: str | None = None,
        source: shapes.Source | None = None,
        rule_id: str | None = None,
        target_month: str | None = None,
        search: str | None = None,
        due_from: Instant | None = None,
        due_until: Instant | None = None,
        limit: int | None = None,
        most: int | None = None,
    ) -> Iterator[shapes.PostView]:
        """List posts, the newest first."""
        return self._asker.pages(
            f"{self._at}/posts",
            query={
                "state": state,
                "account_id": account_id,
                "channel": channel,
                "category_id": category_id,
                "label": label,
                "source": source,
                "rule_id": rule_id,
                "target_month": target_month,
                "search": search,
                "due_from": due_from,
                "due_until": due_until,
                "limit": limit,
            },
            most=most,
        )

    def preview(self, **body: Unpack[shapes.Draft]) -> Sequence[shapes.PreviewView]:
        """Show an unsaved post as each channel gets it, with its length in the network's own unit."""
        return self._asker.request("POST", f"{self._at}/posts/preview", json=body)

    def publish_post_now(
        self,
        post_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.TargetsInput],
    ) -> shapes.PublishingView:
        """Send an approved post now, on chosen channels; a second click finds the first one's
        attempt.
        """
        return self._asker.request(
            "POST",
            f"{self._at}/posts/{part(post_id)}/publish-now",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def retry(
        self,
        post_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.DeliveriesInput],
    ) -> shapes.RetryingView:
        """Try what failed or was missed once more; what is out is never touched."""
        return self._asker.request(
            "POST",
            f"{self._at}/posts/{part(post_id)}/retry",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def schedule(
        self,
        post_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.TimeInput],
    ) -> shapes.ScheduledView:
        """Give it an instant by hand, everywhere or at chosen places."""
        return self._asker.request(
            "POST",
            f"{self._at}/posts/{part(post_id)}/schedule",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def show(self, post_id: str, /) -> shapes.PostView:
        """Show a post with one pill an account and channel; its ETag is its revision."""
        return self._asker.request("GET", f"{self._at}/posts/{part(post_id)}")

    def unapprove(
        self,
        post_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.UnapproveInput],
    ) -> shapes.UnapprovedView:
        """Take the approval back; what waits is a draft again."""
        return self._asker.request(
            "POST",
            f"{self._at}/posts/{part(post_id)}/unapprove",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class QueueOrder(Calls):
    """Queue order, of one workspace."""

    def change_order(
        self,
        account_id: str,
        body: shapes.OrderInput,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.Reordered:
        """Change who holds which instant: the whole order, a move, to the top, a swap, a shuffle,
        reversed.
        """
        return self._asker.request(
            "POST",
            f"{self._at}/accounts/{part(account_id)}/queue/order",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def lift_skips(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.UnskipInput],
    ) -> shapes.SkippedView:
        """Offer slots again that were left out."""
        return self._asker.request(
            "POST",
            f"{self._at}/accounts/{part(account_id)}/queue/skips/lift",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list_skips(self, account_id: str, /) -> Sequence[shapes.SkipView]:
        """List the slots that are left out from now on."""
        return self._asker.request("GET", f"{self._at}/accounts/{part(account_id)}/queue/skips")

    def skip_slots(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.SkipInput],
    ) -> shapes.SkippedView:
        """Leave out named slots, whose posts move on, or the next free ones."""
        return self._asker.request(
            "POST",
            f"{self._at}/accounts/{part(account_id)}/queue/skips",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def take_one(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.SlotInput],
    ) -> shapes.SlotTaken:
        """Put a post on one free slot: moved there from wherever it waits on this account, else
        added.
        """
        return self._asker.request(
            "POST",
            f"{self._at}/accounts/{part(account_id)}/queue/slots",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class Queues(Calls):
    """Queues, of one workspace."""

    def add_to_queue(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.AddInput],
    ) -> shapes.AddedView:
        """Give a post the next free slot of each account, or another place in their queues."""
        return self._asker.request(
            "POST",
            f"{self._at}/queue",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def change_schedule(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ScheduleChange],
    ) -> shapes.ScheduleChanged:
        """Change slots, zone or cap; with `dry_run` it says what would keep its time and what
        would move.
        """
        return self._asker.request(
            "PATCH",
            f"{self._at}/accounts/{part(account_id)}/queue/schedule",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def clear(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ClearInput],
    ) -> shapes.ClearedView:
        """Take everything off the queue; it can be undone for ten minutes."""
        return self._asker.request(
            "POST",
            f"{self._at}/accounts/{part(account_id)}/queue/clear",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def create_schedule(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ScheduleInput],
    ) -> shapes.ScheduleView:
        """Give an account its first weekly slots."""
        return self._asker.request(
            "PUT",
            f"{self._at}/accounts/{part(account_id)}/queue/schedule",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def pause(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.PauseInput],
    ) -> shapes.PausedView:
        """Let nothing of the account be sent from now on; adding and reordering still work."""
        return self._asker.request(
            "POST",
            f"{self._at}/accounts/{part(account_id)}/queue/pause",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def rescue_missed(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.RescueInput],
    ) -> shapes.RescuedView:
        """Give missed posts the next slots, send them now, or take them back as drafts."""
        return self._asker.request(
            "POST",
            f"{self._at}/accounts/{part(account_id)}/queue/missed",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def resume(
        self,
        account_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ResumeInput],
    ) -> shapes.ResumedView:
        """Let it send again; what came due meanwhile is shifted, sent spaced, or taken back as
        drafts.
        """
        return self._asker.request(
            "POST",
            f"{self._at}/accounts/{part(account_id)}/queue/resume",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def show(
        self, account_id: str, /, *, from_day: str | None = None, days: int | None = None
    ) -> shapes.QueueView:
        """Show days with their slots: filled, empty, skipped, capped or held."""
        return self._asker.request(
            "GET",
            f"{self._at}/accounts/{part(account_id)}/queue",
            query={"from_day": from_day, "days": days},
        )

    def show_runway(self, account_id: str, /) -> shapes.RunwayView:
        """Say when the queue runs dry."""
        return self._asker.request("GET", f"{self._at}/accounts/{part(account_id)}/queue/runway")

    def show_schedule(self, account_id: str, /) -> shapes.ScheduleView:
        """Show the weekly slots."""
        return self._asker.request("GET", f"{self._at}/accounts/{part(account_id)}/queue/schedule")

    def undo_clear(
        self,
        clear_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.UndoneView:
        """Bring back what was cleared, where its instants are still free."""
        return self._asker.request(
            "POST",
            f"{self._at}/queue/clears/{part(clear_id)}/undo",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class RecipientChannels(Calls):
    """Recipient channels, of one workspace."""

    def delete_channel(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.RecipientChannelKey],
    ) -> shapes.RecipientChannelDeleted:
        """Delete a channel; lists lose it too."""
        return self._asker.request(
            "POST",
            f"{self._at}/recipient-channels/delete",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list_channels(
        self,
        *,
        provider: str | None = None,
        category: str | None = None,
        active: bool | None = None,
        limit: int | None = None,
        most: int | None = None,
    ) -> Iterator[shapes.RecipientChannelView]:
        """List recipient channels with their health; `active=false` lists those that need a look."""
        return self._asker.pages(
            f"{self._at}/recipient-channels",
            query={"provider": provider, "category": category, "active": active, "limit": limit},
            most=most,
        )

    def reactivate_channel(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.RecipientChannelKey],
    ) -> shapes.RecipientChannelView:
        """Let a channel be sent to again: its failures are counted from zero."""
        return self._asker.request(
            "POST",
            f"{self._at}/recipient-channels/reactivate",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def save_channel(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.RecipientChannelInput],
    ) -> shapes.RecipientChannelView:
        """Keep a channel, or change its title and category; its health stays."""
        return self._asker.request(
            "POST",
            f"{self._at}/recipient-channels",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class Rules(Calls):
    """Rules, of one workspace."""

    def change(
        self,
        rule_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.RuleChange],
    ) -> shapes.RuleSaved:
        """Change a rule and the posts of it that nobody touched; with `dry_run`, see the plan
        first.
        """
        return self._asker.request(
            "PUT",
            f"{self._at}/rules/{part(rule_id)}",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def delete(
        self,
        rule_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.RuleSaved:
        """End a rule: posts that nobody touched go with it, the others stay and are listed."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/rules/{part(rule_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def generate(self) -> shapes.Generated:
        """Lay out what is missing of all active rules now; the same again makes nothing twice."""
        return self._asker.request("POST", f"{self._at}/drafts/generate")

    def list(self) -> Sequence[shapes.RuleView]:
        """List the rules by name."""
        return self._asker.request("GET", f"{self._at}/rules")

    def make(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.RuleInput],
    ) -> shapes.RuleSaved:
        """Make a rule; with `dry_run`, see what it would lay out."""
        return self._asker.request(
            "POST",
            f"{self._at}/rules",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def pause(
        self,
        rule_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.RuleSaved:
        """Lay out no more; what is laid out stays."""
        return self._asker.request(
            "POST",
            f"{self._at}/rules/{part(rule_id)}/pause",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def resume(
        self,
        rule_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.RuleSaved:
        """Go on laying out."""
        return self._asker.request(
            "POST",
            f"{self._at}/rules/{part(rule_id)}/resume",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def retarget(
        self,
        rule_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.Retargeted],
    ) -> shapes.RuleSaved:
        """Change where a rule goes, and nothing else."""
        return self._asker.request(
            "PUT",
            f"{self._at}/rules/{part(rule_id)}/targets",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def show(self, rule_id: str, /) -> shapes.RuleView:
        """Show one rule."""
        return self._asker.request("GET", f"{self._at}/rules/{part(rule_id)}")


class Sequences(Calls):
    """Sequences, of one workspace."""

    def add_contacts(
        self,
        sequence_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.SequencePeopleInput],
    ) -> shapes.SequencePeopleView:
        """Put contacts or an audience into a sequence; who is there already stays as they are."""
        return self._asker.request(
            "POST",
            f"{self._at}/sequences/{part(sequence_id)}/contacts",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def add_messages(
        self,
        sequence_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ReadyMessagesInput],
    ) -> shapes.SequencePeopleView:
        """Put people with messages that were written for them into a sequence."""
        return self._asker.request(
            "POST",
            f"{self._at}/sequences/{part(sequence_id)}/messages",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def change(
        self,
        sequence_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.SequenceChange],
    ) -> shapes.SequenceView:
        """Change a sequence; its steps only while it is a draft."""
        return self._asker.request(
            "PATCH",
            f"{self._at}/sequences/{part(sequence_id)}",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def create(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.SequenceInput],
    ) -> shapes.SequenceView:
        """Create a sequence as a draft."""
        return self._asker.request(
            "POST",
            f"{self._at}/sequences",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def delete(
        self,
        sequence_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.SequenceDeleted:
        """Delete a draft; one that has run is ended instead."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/sequences/{part(sequence_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def end(
        self,
        sequence_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.SequenceView:
        """End a sequence for good: what is planned is canceled, the history stays."""
        return self._asker.request(
            "POST",
            f"{self._at}/sequences/{part(sequence_id)}/end",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list(self) -> Sequence[shapes.SequenceView]:
        """List sequences."""
        return self._asker.request("GET", f"{self._at}/sequences")

    def list_contacts(
        self,
        sequence_id: str,
        /,
        *,
        state: Literal["waiting", "planned", "paused", "snoozed", "finished", "stopped"]
        | None = None,
        limit: int | None = None,
        most: int | None = None,
    ) -> Iterator[shapes.EnrolledView]:
        """List the people of a sequence in their order."""
        return self._asker.pages(
            f"{self._at}/sequences/{part(sequence_id)}/contacts",
            query={"state": state, "limit": limit},
            most=most,
        )

    def pause(
        self,
        sequence_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.SequencePauseInput],
    ) -> shapes.SequenceView:
        """Pause a sequence: nothing of it is sent from here on."""
        return self._asker.request(
            "POST",
            f"{self._at}/sequences/{part(sequence_id)}/pause",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def pause_contact(
        self,
        sequence_id: str,
        contact_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.EnrolledView:
        """Let a person wait until somebody resumes them."""
        return self._asker.request(
            "POST",
            f"{self._at}/sequences/{part(sequence_id)}/contacts/{part(contact_id)}/pause",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def replan(
        self,
        sequence_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ReplanInput],
    ) -> shapes.SequenceReplannedView:
        """Give unsent messages new times, or other accounts, and list what moves; a dry run shows
        it first.
        """
        return self._asker.request(
            "POST",
            f"{self._at}/sequences/{part(sequence_id)}/replan",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def resume(
        self,
        sequence_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.SequenceView:
        """Go on: what came due during the pause gets new times."""
        return self._asker.request(
            "POST",
            f"{self._at}/sequences/{part(sequence_id)}/resume",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def resume_contact(
        self,
        sequence_id: str,
        contact_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.EnrolledView:
        """Go on with a person who was paused, snoozed or stopped by hand."""
        return self._asker.request(
            "POST",
            f"{self._at}/sequences/{part(sequence_id)}/contacts/{part(contact_id)}/resume",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def show(self, sequence_id: str, /) -> shapes.SequenceView:
        """Show a sequence."""
        return self._asker.request("GET", f"{self._at}/sequences/{part(sequence_id)}")

    def show_contact(self, sequence_id: str, contact_id: str, /) -> shapes.EnrolledView:
        """Show how a person stands in a sequence."""
        return self._asker.request(
            "GET", f"{self._at}/sequences/{part(sequence_id)}/contacts/{part(contact_id)}"
        )

    def show_plan(self, sequence_id: str, /) -> shapes.SequencePlanView:
        """Show what the planner would do with who waits: times, days, finish and warnings; nothing
        is stored.
        """
        return self._asker.request("GET", f"{self._at}/sequences/{part(sequence_id)}/plan")

    def show_report(self, sequence_id: str, /) -> shapes.SequenceReportView:
        """Count people by state, and messages by step, variant and account."""
        return self._asker.request("GET", f"{self._at}/sequences/{part(sequence_id)}/report")

    def snooze_contact(
        self,
        sequence_id: str,
        contact_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.SequenceSnoozeInput],
    ) -> shapes.EnrolledView:
        """Leave a person alone until a time; then the sequence goes on."""
        return self._asker.request(
            "POST",
            f"{self._at}/sequences/{part(sequence_id)}/contacts/{part(contact_id)}/snooze",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def start(
        self,
        sequence_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.SequenceView:
        """Start a draft: from now on people get their times and messages are sent."""
        return self._asker.request(
            "POST",
            f"{self._at}/sequences/{part(sequence_id)}/start",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def stop_contact(
        self,
        sequence_id: str,
        contact_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.EnrolledView:
        """Stop the sequence for a person."""
        return self._asker.request(
            "POST",
            f"{self._at}/sequences/{part(sequence_id)}/contacts/{part(contact_id)}/stop",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class SignupForms(Calls):
    """Signup forms, of one workspace."""

    def change(
        self,
        form_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.SignupFormModel],
    ) -> shapes.SignupFormView:
        """Change a sign-up form as a whole."""
        return self._asker.request(
            "PUT",
            f"{self._at}/signup-forms/{part(form_id)}",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def create(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.SignupFormModel],
    ) -> shapes.SignupFormView:
        """Make a sign-up form; the answer holds the HTML to put on a site."""
        return self._asker.request(
            "POST",
            f"{self._at}/signup-forms",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def delete(
        self,
        form_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.SignupFormDeleted:
        """Delete a sign-up form; who confirmed stays a contact."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/signup-forms/{part(form_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list(self) -> Sequence[shapes.SignupFormView]:
        """List sign-up forms."""
        return self._asker.request("GET", f"{self._at}/signup-forms")

    def show(self, form_id: str, /) -> shapes.SignupFormView:
        """Show a sign-up form with the HTML to put on a site."""
        return self._asker.request("GET", f"{self._at}/signup-forms/{part(form_id)}")


class Suppression(Calls):
    """Suppression, of one workspace."""

    def add_suppression(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.SuppressionInput],
    ) -> shapes.SuppressionView:
        """Write to somebody no more, from now on; what is scheduled for them is skipped."""
        return self._asker.request(
            "POST",
            f"{self._at}/suppression",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def export_suppression(self) -> shapes.SuppressionCsv:
        """Write up to 1,000 rows as CSV, which can be imported again."""
        return self._asker.request("GET", f"{self._at}/suppression/export")

    def import_suppression(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.SuppressionCsvInput],
    ) -> shapes.SuppressionImported:
        """Add up to 1,000 lines of CSV; lines that cannot be read are left out and named."""
        return self._asker.request(
            "POST",
            f"{self._at}/suppression/import",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list_suppressions(
        self,
        *,
        kind: shapes.SuppressionKind | None = None,
        channel: str | None = None,
        reason: shapes.SuppressionReason | None = None,
        starts: str | None = None,
        limit: int | None = None,
        most: int | None = None,
    ) -> Iterator[shapes.SuppressionView]:
        """List whom not to write to, newest first; `starts` is how values begin."""
        return self._asker.pages(
            f"{self._at}/suppression",
            query={
                "kind": kind,
                "channel": channel,
                "reason": reason,
                "starts": starts,
                "limit": limit,
            },
            most=most,
        )

    def remove_suppression(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.SuppressionRemoval],
    ) -> shapes.SuppressionRemoved:
        """Let somebody be written to again; who did it and why is kept in the audit log."""
        return self._asker.request(
            "POST",
            f"{self._at}/suppression/remove",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class ServerSystem(Calls):
    """System, of the whole installation."""

    def audit_all_limits(self, *, whole: bool | None = None) -> shapes.AuditView:
        """Replay the ledger against every rule of every account, and show the worst that was ever
        reached.
        """
        return self._asker.request("GET", f"{self._at}/system/limits-audit", query={"whole": whole})

    def confirm(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.ConfirmInput],
    ) -> shapes.ConfirmedView:
        """Say that all is well after a restore or a clock's jump: sending goes on."""
        return self._asker.request(
            "POST",
            f"{self._at}/system/confirm",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def pack_bundle(self) -> Iterator[bytes]:
        """Pack what a maintainer needs to help: versions, settings, counts, tries; no texts, no
        secrets.
        """
        return self._asker.download(f"{self._at}/system/bundle")

    def show_system(self) -> shapes.System:
        """Show workers, clocks, lag and success rates."""
        return self._asker.request("GET", f"{self._at}/system")


class Templates(Calls):
    """Templates, of one workspace."""

    def check(
        self, template_id: str, /, **body: Unpack[shapes.TemplateCheckInput]
    ) -> shapes.TemplateCheckView:
        """Check variables, links and the channel's limits, and whom a missing value would hit."""
        return self._asker.request(
            "POST", f"{self._at}/templates/{part(template_id)}/check", json=body
        )

    def delete(
        self,
        template_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.TemplateDeleted:
        """Delete a template; what was planned with its versions is still sent."""
        return self._asker.request(
            "DELETE",
            f"{self._at}/templates/{part(template_id)}",
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list(
        self, *, limit: int | None = None, most: int | None = None
    ) -> Iterator[shapes.TemplateView]:
        """List templates, those saved last first."""
        return self._asker.pages(f"{self._at}/templates", query={"limit": limit}, most=most)

    def list_versions(self, template_id: str, /) -> Sequence[shapes.TemplateVersionView]:
        """List the last 200 versions, the newest first."""
        return self._asker.request("GET", f"{self._at}/templates/{part(template_id)}/versions")

    def make(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.TemplateInput],
    ) -> shapes.TemplateView:
        """Make a template; what cannot be read as one is refused with its place."""
        return self._asker.request(
            "POST",
            f"{self._at}/templates",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def preview(
        self, template_id: str, /, **body: Unpack[shapes.PreviewInput]
    ) -> shapes.TemplatePreviewView:
        """Render a version with a contact's fields, with given values, or with examples."""
        return self._asker.request(
            "POST", f"{self._at}/templates/{part(template_id)}/preview", json=body
        )

    def preview_unsaved(
        self, **body: Unpack[shapes.UnsavedPreviewInput]
    ) -> shapes.TemplatePreviewView:
        """Render content that is not saved."""
        return self._asker.request("POST", f"{self._at}/templates/preview", json=body)

    def save(
        self,
        template_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.TemplateChange],
    ) -> shapes.TemplateView:
        """Save the next version; what was planned with older ones keeps them."""
        return self._asker.request(
            "PUT",
            f"{self._at}/templates/{part(template_id)}",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def send_test(
        self,
        template_id: str,
        /,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.TestSendInput],
    ) -> shapes.MessageView:
        """Send a mail to yourself: to your own address; from a key, to the account's own."""
        return self._asker.request(
            "POST",
            f"{self._at}/templates/{part(template_id)}/test",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def show(self, template_id: str, /) -> shapes.TemplateView:
        """Show a template with its newest version."""
        return self._asker.request("GET", f"{self._at}/templates/{part(template_id)}")

    def show_version(self, template_id: str, number: str, /) -> shapes.TemplateVersionView:
        """Show one version."""
        return self._asker.request(
            "GET", f"{self._at}/templates/{part(template_id)}/versions/{part(number)}"
        )


class ServerUnsubscribe(Calls):
    """Unsubscribe, of the whole installation."""

    def confirm_unsubscribe(self, token: str, /) -> Iterator[bytes]:
        """Unsubscribe from everything, or change what a button says; repeating it changes nothing."""
        return self._asker.download(f"{self._at}/u/{part(token)}")

    def show_unsubscribe(self, token: str, /) -> Iterator[bytes]:
        """Show what the recipient gets, with buttons; nothing is changed."""
        return self._asker.download(f"{self._at}/u/{part(token)}")


class ServerWorkspaces(Calls):
    """Workspaces, of the whole installation."""

    def create(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.NewWorkspace],
    ) -> shapes.Workspace:
        """Make a workspace and become its owner."""
        return self._asker.request(
            "POST",
            f"{self._at}/workspaces",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def list_own(self) -> Sequence[shapes.Workspace]:
        """List the workspaces that one is in."""
        return self._asker.request("GET", f"{self._at}/workspaces")


class Workspaces(Calls):
    """Workspaces, of one workspace."""

    def change(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.WorkspaceChange],
    ) -> shapes.Workspace:
        """Change name, zone, approval, the brand's hashtags, posts a day, or whether rules serve
        it.
        """
        return self._asker.request(
            "PATCH",
            self._at,
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def show(self) -> shapes.Workspace:
        """Show a workspace."""
        return self._asker.request("GET", self._at)

    def start(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.Start],
    ) -> shapes.Workspace:
        """Let things leave again; what came due meanwhile is shifted, sent spaced, or taken back."""
        return self._asker.request(
            "POST",
            f"{self._at}/start",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    def stop(
        self,
        *,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **body: Unpack[shapes.Stop],
    ) -> shapes.Workspace:
        """Let nothing leave from now on, with a reason for all to see."""
        return self._asker.request(
            "POST",
            f"{self._at}/stop",
            json=body,
            dry_run=dry_run,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )


class WorkspaceCalls:
    """Everything that can be asked of one workspace."""

    def __init__(self, asker: SyncRequester, at: str) -> None:
        self.account_holidays = AccountHolidays(asker, at)
        self.account_use = AccountUse(asker, at)
        self.accounts = Accounts(asker, at)
        self.activity = Activity(asker, at)
        self.attention = Attention(asker, at)
        self.audiences = Audiences(asker, at)
        self.audit = Audit(asker, at)
        self.calendar = Calendar(asker, at)
        self.campaigns = Campaigns(asker, at)
        self.categories = Categories(asker, at)
        self.connect = Connect(asker, at)
        self.contact_exports = ContactExports(asker, at)
        self.contact_fields = ContactFields(asker, at)
        self.contact_imports = ContactImports(asker, at)
        self.contacts = Contacts(asker, at)
        self.deliveries = Deliveries(asker, at)
        self.domain_check = DomainCheck(asker, at)
        self.events = Events(asker, at)
        self.exports = Exports(asker, at)
        self.external_sends = ExternalSends(asker, at)
        self.imports = Imports(asker, at)
        self.inbound = Inbound(asker, at)
        self.inbox = Inbox(asker, at)
        self.keys = Keys(asker, at)
        self.mailbox_imports = MailboxImports(asker, at)
        self.mailboxes = Mailboxes(asker, at)
        self.media = Media(asker, at)
        self.messages = Messages(asker, at)
        self.notices = Notices(asker, at)
        self.outreach = Outreach(asker, at)
        self.people = People(asker, at)
        self.posts = Posts(asker, at)
        self.queue_order = QueueOrder(asker, at)
        self.queues = Queues(asker, at)
        self.recipient_channels = RecipientChannels(asker, at)
        self.rules = Rules(asker, at)
        self.sequences = Sequences(asker, at)
        self.signup_forms = SignupForms(asker, at)
        self.suppression = Suppression(asker, at)
        self.templates = Templates(asker, at)
        self.itself = Workspaces(asker, at)


class ServerCalls:
    """Everything that can be asked of the whole installation, as far as one may."""

    def __init__(self, asker: SyncRequester, at: str) -> None:
        self.audit = ServerAudit(asker, at)
        self.channels = ServerChannels(asker, at)
        self.connect_notices = ServerConnectNotices(asker, at)
        self.intake = ServerIntake(asker, at)
        self.jobs = ServerJobs(asker, at)
        self.key = ServerKey(asker, at)
        self.me = ServerMe(asker, at)
        self.passes = ServerPasses(asker, at)
        self.system = ServerSystem(asker, at)
        self.unsubscribe = ServerUnsubscribe(asker, at)
        self.workspaces = ServerWorkspaces(asker, at)
