"""What is asked of the HTTP API and what it answers, as types: made by `python -m cadenza.api.write_client`.

Do not change it by hand: a test compares it with the routes. All of it is the data as it travels: plain
dictionaries, lists and texts. Nothing is checked while a program runs; a type checker checks.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

# An instant that is asked: an aware datetime, or ISO 8601 with an offset. In answers it is a text, in UTC.
Instant: TypeAlias = datetime | str


# What limits count by.
Action: TypeAlias = Literal["email", "message", "connection_request", "inmail", "post", "broadcast"]

# Why it is in the list.
AttentionKind: TypeAlias = Literal[
    "failed", "needs_check", "missed", "held", "unapproved", "account", "blocked"
]

# What exactly is the matter: it decides what is offered, and the word on the button.
AttentionReason: TypeAlias = Literal[
    "refused",
    "gave_up",
    "unconfirmed",
    "missed",
    "paused",
    "came_due",
    "workspace_stopped",
    "held_by_account",
    "held_by_suspension",
    "network_waits",
    "not_approved",
    "connection_ends",
    "connection_lost",
    "suspended",
    "needs_copy",
    "needs_media",
    "needs_copy_and_media",
    "does_not_fit",
]

# How the body is written.
BodyFormat: TypeAlias = Literal["text", "markdown", "html"]

# Where a campaign stands.
CampaignState: TypeAlias = Literal[
    "draft", "scheduled", "queued", "running", "paused", "completed", "failed", "canceled"
]

# One way to publish with an account.
Channel: TypeAlias = Literal[
    "facebook_page",
    "instagram_feed",
    "instagram_story",
    "threads",
    "linkedin_profile",
    "linkedin_organization",
    "x",
    "mastodon",
    "bluesky",
    "telegram",
    "email",
    "linkedin_message",
    "linkedin_invitation",
    "linkedin_inmail",
    "slack",
    "discord",
    "webhook",
]

# How a person wants to hear of it.
Choice: TypeAlias = Literal["each", "digest", "off"]

# What a click found or did at one place.
Click: TypeAlias = Literal["started", "running", "sent", "unconfirmed"]

# Each reason: its code, and the sentence that people read.
Code: TypeAlias = Literal[
    "not_waiting",
    "not_approved",
    "last_time_passed",
    "too_late",
    "suppressed",
    "recipient_inactive",
    "does_not_fit",
    "account_removed",
    "installation_held",
    "no_heartbeat",
    "workspace_stopped",
    "account_paused",
    "account_not_ready",
    "paused",
    "changed_meanwhile",
    "parked",
    "wants_choice",
    "network_wait",
    "recipient_cap",
    "outside_hours",
    "quiet_hours",
    "outside_recipient_hours",
    "day_full",
    "provider_rate",
    "limit_reached",
    "turn_after_others",
    "sent_note",
    "assumed_sent",
    "not_ready",
    "rate_limited",
    "transient",
    "retries_exhausted",
    "rejected",
    "recipient_gone",
    "forbidden",
    "disconnected",
    "unconfirmed",
    "worker_silent",
    "worker_died",
    "not_there",
    "sent_again",
    "rest_follows",
    "part_there",
    "cannot_tell",
    "maybe_sent",
    "recipient_lost",
    "canceled",
    "post_deleted",
    "cleared",
    "erased",
    "rule_changed",
    "campaign_canceled",
    "not_approved_in_time",
    "approval_taken_back",
    "content_changed",
    "sent_late",
    "sent_late_by_person",
    "taken_back_late",
    "taken_back_missed",
    "moved",
    "no_slot_free",
    "over_limits",
    "planned_again",
    "other_account",
    "replanned",
    "reply",
    "bounce",
    "accepted",
    "unsubscribe",
    "complaint",
    "stopped_by_hand",
    "not_sent",
    "sequence_held",
    "sequence_ended",
    "other",
]

# What becomes of the saved words.
ComposeAction: TypeAlias = Literal["nowhere", "queue", "time", "now", "again"]

# Whether the person agreed to be written to.
Consent: TypeAlias = Literal["unknown", "given", "refused"]

# What a person made of it.
ConversationLabel: TypeAlias = Literal["interested", "not_now", "wrong_person"]

# Whether somebody still has to act.
ConversationState: TypeAlias = Literal["open", "done"]

# The one set of states of a delivery.
DeliveryState: TypeAlias = Literal[
    "draft",
    "scheduled",
    "sending",
    "sent",
    "failed",
    "unconfirmed",
    "missed",
    "canceled",
    "skipped",
]

# What happened; a program chooses by these.
EventKind: TypeAlias = Literal[
    "delivery.sent",
    "delivery.failed",
    "delivery.missed",
    "delivery.unconfirmed",
    "delivery.at_risk",
    "delivery.unapproved",
    "account.expiring",
    "account.needs_reconnect",
    "account.suspended",
    "account.limited",
    "installation.held",
    "queue.dry",
    "import.done",
    "contact.subscribed",
    "contact.unsubscribed",
    "campaign.completed",
    "campaign.paused",
    "inbox.replied",
    "inbox.bounced",
    "inbox.complained",
]

# Which of the two instants a repeated wall time means.
Fold: TypeAlias = Literal["first", "second", "both"]

# What becomes of a wall time that does not exist.
Gap: TypeAlias = Literal["shift", "skip", "next_valid"]

# What kind of thing holds it.
Hold: TypeAlias = Literal["account", "stopped", "paused", "came_due", "wait"]

# What becomes of queued posts.
How: TypeAlias = Literal["follow", "keep", "reflow"]

# What came in.
InboundKind: TypeAlias = Literal[
    "reply",
    "out_of_office",
    "unsubscribe",
    "hard_bounce",
    "soft_bounce",
    "policy_bounce",
    "content_bounce",
    "complaint",
    "accepted",
    "delivered",
    "delayed",
    "open",
    "click",
    "unknown",
]

# What stands at an instant.
Kind: TypeAlias = Literal[
    "filled", "empty", "skipped", "capped", "held", "by_hand", "pinned", "sending", "sent", "past"
]

# How grave a finding is.
Level: TypeAlias = Literal["ok", "advice", "problem", "unknown"]

# Whether a wall time met a change of offset.
Mark: TypeAlias = Literal["none", "gap", "fold"]

# What a file is, by its content, not by its name.
MediaKind: TypeAlias = Literal["image", "gif", "video", "document"]

# What an option takes.
OptionType: TypeAlias = Literal["choice", "choices", "flag", "text", "texts"]

# How the order is to change.
OrderInput: TypeAlias = "SetOrder | Move | MoveToTop | Swap | Shuffle | Reverse"

# What becomes of posts that were due after the backup.
Overdue: TypeAlias = Literal["check", "next_slot", "now", "draft"]

# How a post shows.
PostState: TypeAlias = Literal[
    "draft",
    "scheduled",
    "publishing",
    "publishing_rest",
    "needs_check",
    "published",
    "partially_published",
    "failed",
    "missed",
]

# What becomes of what came due while nothing was sent, or was missed.
ResumeChoice: TypeAlias = Literal["shift", "send", "draft"]

# What a member may do, the least first.
Role: TypeAlias = Literal["viewer", "editor", "admin", "owner"]

# Whether a rule lays out posts.
RuleState: TypeAlias = Literal["active", "paused", "deleted"]

# Who thought of it.
Source: TypeAlias = Literal["manual", "rule", "queue"]

# Who tells.
SourceKind: TypeAlias = Literal["signed", "unipile", "ses", "postmark", "mailgun", "sendgrid"]

# Where a job stands.
State: TypeAlias = Literal["waiting", "running", "done", "failed", "canceled"]

# One thing that a person can do about it.
Step: TypeAlias = Literal[
    "retry",
    "edit",
    "write",
    "it_is_there",
    "send_again",
    "next_slot",
    "publish_now",
    "to_draft",
    "resume",
    "start_workspace",
    "reconnect",
    "lift_suspension",
    "approve",
    "approve_and_publish_now",
    "add_media",
    "delete",
]

# What is suppressed.
SuppressionKind: TypeAlias = Literal["address", "domain", "handle"]

# Why nobody may write there.
SuppressionReason: TypeAlias = Literal[
    "unsubscribe", "complaint", "hard_bounce", "manual", "erasure"
]

# Where in the queue; a slot is `Named`, an instant of one's own is given as a datetime.
To: TypeAlias = Literal["first_free", "end", "next"]

# What a person can choose about.
Topic: TypeAlias = Literal["published", "failed", "account"]


class Account(TypedDict):
    """A connected identity and how it is; never its credentials."""

    dry_run: bool
    id: str
    provider: str
    remote_id: str
    handle: str
    name: str | None
    kind: str | None
    zone: str
    state: str
    state_reason: str | None
    token_expires_at: str | None
    token_refreshed_at: str | None
    lost_at: str | None
    grace_minutes: int
    unconfirmed_policy: str
    hours: dict[str, Hours | None]
    # What holds for an action that `hours` does not name; null: at any time
    usual_hours: dict[str, Hours | None]
    holidays: list[str]
    # Countries whose public holidays it keeps
    holiday_calendars: list[str]
    # By which sequences choose accounts
    labels: list[str]
    # Per action: a new account begins with fewer a day than its limit allows
    warm_up: dict[str, WarmUp]
    # Made for many (a mail relay): campaigns by it keep no limits of mail by hand
    bulk: bool
    # The name that its mails come from
    from_name: str
    # Where answers to its mails go
    reply_to: str
    # Plain text below every mail
    signature: str
    health: AccountHealthLimits
    lane: Lane | None
    # Posts that came due while it was disconnected; `resume` says what becomes of them
    to_resume: int
    created_at: str


class AccountChange(TypedDict):
    """What to change of an account."""

    zone: NotRequired[str | None]
    grace_minutes: NotRequired[int | None]
    unconfirmed_policy: NotRequired[Literal["ask", "assume_sent"] | None]
    # Per action; null is always open, left out is the default
    hours: NotRequired[dict[str, Hours | None] | None]
    holidays: NotRequired[list[str] | None]
    # Countries whose public holidays it keeps, such as DE, or DE-BY for a part of one
    holiday_calendars: NotRequired[list[str] | None]
    labels: NotRequired[list[str] | None]
    # Per action; null, or left out, ends it
    warm_up: NotRequired[dict[str, WarmUp | None] | None]
    bulk: NotRequired[bool | None]
    # The name that its mails come from; empty: none
    from_name: NotRequired[str | None]
    # Where answers to its mails go; empty: to its own address
    reply_to: NotRequired[str | None]
    # Plain text below every mail; empty: none
    signature: NotRequired[str | None]
    health: NotRequired[AccountHealthLimits | None]


class AccountHealthLimits(TypedDict):
    """From what share of the mails sent in 30 days the account is suspended; 100 never does."""

    bounce_percent: NotRequired[float]
    complaint_percent: NotRequired[float]
    # Mails sent before bounces are judged
    after: NotRequired[int]


class AccountResults(TypedDict):
    """An account and what came back to it."""

    sent: int
    replies: int
    hard_bounces: int
    soft_bounces: int
    refused: int
    complaints: int
    unsubscribes: int
    account_id: str
    # Of the mails sent, to addresses that do not exist
    bounce_percent: float
    complaint_percent: float
    # Why it is suspended at the next bounce or complaint, or was
    at_risk: str | None


class AccountUseView(TypedDict):
    """What an account did lately."""

    zone: str
    since: str
    days: list[DayUse]
    hours: list[HourUse]
    uses: list[LimitUse]


class AddInput(TypedDict):
    """Which post, to which accounts, and where in the queue."""

    post_id: str
    # Left out: those used last, else all
    accounts: NotRequired[list[QueueTargetInput] | None]
    to: NotRequired[To]
    # A free slot, instead of `to`
    slot: NotRequired[Instant | None]
    # An instant of one's own, instead of `to`
    at: NotRequired[Instant | None]


class AddedView(TypedDict):
    """One answer an account, and when the post goes out first."""

    dry_run: bool
    answers: list[QueuedView | AlreadyView | NotQueuedView]
    scheduled_at: str | None


class AddressInput(TypedDict):
    """One way to a person."""

    channel: str
    address: str


class AddressView(TypedDict):
    """One way to a person; `flag`: a role or a disposable address."""

    channel: str
    # The one spelling that limits and suppression go by
    address: str
    written: str
    flag: Literal["role", "disposable"] | None


class AlreadyView(TypedDict):
    """It is on its way by that account already."""

    outcome: Literal["already_queued"]
    account_id: str
    id: str
    state: str
    at: str


class ApprovalView(TypedDict):
    """Who approved it, and when."""

    by: str
    at: str


class ApproveAndPublishInput(TypedDict):
    """Which places, and which revision was looked at."""

    accounts: NotRequired[list[TargetInput] | None]
    revision: NotRequired[int | None]


class ApproveInput(TypedDict):
    """Which revision was looked at: another one is not approved by this."""

    revision: NotRequired[int | None]


class ApprovedView(TypedDict):
    """It is approved; `before` says that it was so already."""

    dry_run: bool
    post: PostView
    before: bool
    scheduled: list[str]
    # Their time was past
    missed: list[str]


class AssetView(TypedDict):
    """A file of a pool, in the order in which it will be picked."""

    media_id: str
    use_count: int
    last_used_at: str | None


class Attempt(TypedDict):
    """One call to the network: what was meant, and what came of it."""

    id: str
    number: int
    part: int
    content_hash: str
    began_at: str
    deadline_at: str
    outcome: str | None
    # What the network said, or we about its silence
    message: str | None
    remote_id: str | None
    url: str | None
    ended_at: str | None
    # What came of it, for people
    sentence: str
    # What a person may do about it now; null: nothing, or no longer
    fix: Literal["edit", "retry", "reconnect", "decide"] | None


class AttentionItemView(TypedDict):
    """One thing that wants a person, with what can be done about it."""

    kind: AttentionKind
    # What exactly is the matter; it decides the steps
    reason: AttentionReason
    subject_id: str
    message: str
    steps: list[Step]
    # When it is due, or when it came to this
    at: str
    post_id: str | None
    pill: PillView | None
    # Of a delivery: which try a decision is about
    fence: int | None
    # How the post begins
    words: str | None


class AudienceChange(TypedDict):
    """What is to be different."""

    name: NotRequired[str | None]
    filter: NotRequired[list[ConditionInput] | None]
    # What recipients call this list, where they choose what they get; empty: they don't see it
    public_name: NotRequired[str | None]


class AudienceDeleted(TypedDict):
    """It is deleted; its contacts stay."""

    dry_run: bool
    id: str


class AudienceInput(TypedDict):
    """A list; with a filter, a saved filter."""

    name: str
    # Left out: a list
    filter: NotRequired[list[ConditionInput] | None]


class AudienceView(TypedDict):
    """An audience; a saved filter's size is counted when it is asked."""

    dry_run: bool
    id: str
    name: str
    kind: Literal["list", "filter"]
    filter: list[ConditionView]
    size: int
    revision: int
    created_at: str
    updated_at: str
    # As recipients see it, where they choose what they get
    public_name: str | None


class AuditView(TypedDict):
    """Whether limits held, and whether counters tell the truth."""

    clean: bool
    worst: list[WorstView]
    drift: list[DriftView]


class BegunConnection(TypedDict):
    """How a connection goes that was begun."""

    state: Literal["waiting", "connected", "failed"]
    # Why it failed
    reason: str | None
    accounts: list[Account]


class CalendarView(TypedDict):
    """What is due from `start` on and before `end`; `more`: ask for a shorter span to see all."""

    start: str
    end: str
    zone: str
    entries: list[EntryView]
    more: bool
    free: list[FreeSlotView]
    clock_changes: list[ClockChange]


class CampaignDeleted(TypedDict):
    """It is deleted; what it sent stays in the ledger."""

    dry_run: bool
    id: str


class CampaignInput(TypedDict):
    """A campaign as a person fills it in."""

    name: str
    audience_id: str
    template_id: str
    # Left out: the newest
    template_version: NotRequired[int | None]
    account_ids: list[str]
    channel: NotRequired[Channel]
    description: NotRequired[str]
    # Values for all recipients; they win over a contact's own
    params: NotRequired[dict[str, Any]]
    # test: nothing reaches a network
    mode: NotRequired[Literal["live", "test"]]
    delivery_rate: NotRequired[int | None]
    # So many tries after the first
    retry_limit: NotRequired[int]
    # Skip recipients with missing values instead of refusing the start
    skip_incomplete: NotRequired[bool]
    # Pause it when so many of the last 200 results, 20 at least, are failures
    max_error_percent: NotRequired[int]
    # Pause it when so many of 50 mails or more come back
    max_bounce_percent: NotRequired[int]
    start_at: NotRequired[Instant | None]
    not_after_at: NotRequired[Instant | None]
    # When nobody is written to, on each recipient's clock: 22:00-08:00
    quiet_hours: NotRequired[str | None]
    # Start at the hour of `start_at` on each recipient's clock
    local_start: NotRequired[bool]
    # Other templates that are tried against its own
    variants: NotRequired[list[CampaignVariantInput]]
    # So many of a hundred try the versions; the rest gets the winner
    split_percent: NotRequired[int]
    # Who or what chooses the winner
    winner_by: NotRequired[Literal["hand", "replies", "clicks"]]
    winner_after_minutes: NotRequired[int]
    # Of a test: who really gets it
    test_addresses: NotRequired[list[str]]
    # Of a test: how many of a hundred meet which fault
    test_faults: NotRequired[dict[str, int]]
    # Of recipients without a time zone; null: the workspace's
    zone: NotRequired[str | None]


class CampaignPauseInput(TypedDict):
    """Why it is paused."""

    reason: NotRequired[str]


class CampaignProgressView(TypedDict):
    """What became of the recipients so far."""

    total: int
    planned: bool
    sent: int
    failed: int
    unconfirmed: int
    missed: int
    skipped: int
    canceled: int
    waiting: int
    percent: int
    per_second: float | None
    per_minute: float | None
    allowed_per_minute: float | None
    finish_at: str | None
    bound_by: str | None


class CampaignPurgeInput(TypedDict):
    """What is removed."""

    sent_before: Instant


class CampaignPurgeView(TypedDict):
    """What is removed: messages that were sent, of campaigns that have ended."""

    dry_run: bool
    sent_before: str
    campaigns: int
    deliveries: int


class CampaignRateInput(TypedDict):
    """Another rate."""

    # How many leave in a minute at most
    delivery_rate: int


class CampaignRecipientView(TypedDict):
    """A recipient and what became of the message."""

    delivery_id: str
    recipient: str
    contact_id: str | None
    account_id: str
    state: Literal[
        "scheduled", "sending", "sent", "failed", "unconfirmed", "missed", "skipped", "canceled"
    ]
    # The state in the words of a pg-boss installation, where asked
    status: str | None
    reason: str | None
    sent_at: str | None
    failed_at: str | None
    attempts: int
    url: str | None


class CampaignRecipientViewPage(TypedDict):
    """CampaignRecipientViewPage"""

    items: list[CampaignRecipientView]
    next: str | None


class CampaignSkippedView(TypedDict):
    """A member of the audience who was not written to, and why."""

    kind: Literal["contact", "channel"]
    provider: str
    member_id: str
    recipient: str | None
    code: str
    message: str
    skipped_at: str


class CampaignSkippedViewPage(TypedDict):
    """CampaignSkippedViewPage"""

    items: list[CampaignSkippedView]
    next: str | None


class CampaignStartView(TypedDict):
    """What starting comes to."""

    dry_run: bool
    campaign: CampaignView
    recipients: int
    accounts: list[str]
    first_at: str
    finish_at: str | None
    bound_by: str
    warnings: list[str]


class CampaignVariantInput(TypedDict):
    """Another template that is tried."""

    template_id: str
    template_version: NotRequired[int | None]


class CampaignVariantView(TypedDict):
    """A version that is tried, and what it brought."""

    position: int
    template_id: str
    template_version_id: str
    sent: int
    failed: int
    replies: int
    clicks: int


class CampaignView(TypedDict):
    """A campaign and how far it is."""

    dry_run: bool
    id: str
    name: str
    description: str
    audience_id: str
    template_id: str
    template_version_id: str
    account_ids: list[str]
    channel: Channel
    params: dict[str, str | int | float]
    mode: Literal["live", "test"]
    delivery_rate: int | None
    retry_limit: int
    skip_incomplete: bool
    max_error_percent: int
    max_bounce_percent: int
    start_at: str | None
    not_after_at: str | None
    quiet_hours: str | None
    local_start: bool
    zone: str | None
    variants: list[CampaignVariantView]
    split_percent: int
    split_state: Literal["testing", "waiting", "decided"] | None
    winner_by: Literal["hand", "replies", "clicks"]
    winner_after_minutes: int
    winner_at: str | None
    winner: int | None
    test_addresses: list[str]
    test_faults: dict[str, int]
    state: CampaignState
    # The same in the words of a pg-boss installation
    status: str
    reason: str | None
    reason_code: str | None
    # When a pause ends by itself; null: an editor resumes it
    auto_resume_at: str | None
    progress: CampaignProgressView
    revision: int
    created_at: str
    updated_at: str
    started_at: str | None
    ended_at: str | None
    purged_at: str | None


class CampaignViewPage(TypedDict):
    """CampaignViewPage"""

    items: list[CampaignView]
    next: str | None


class CampaignWinnerInput(TypedDict):
    """Which version the rest of the audience gets."""

    # Its place, from 0: the campaign's own template
    variant: int


class CancelInput(TypedDict):
    """Which deliveries are canceled, and why."""

    deliveries: NotRequired[list[str] | None]
    reason: NotRequired[str]


class CancelJob(TypedDict):
    """Why."""

    reason: NotRequired[str]


class CanceledView(TypedDict):
    """What was canceled, and what was too far on its way."""

    dry_run: bool
    post: PostView
    canceled: list[str]
    sending: list[TooLateView]


class CategoryDeleted(TypedDict):
    """It is deleted; its media stay in the library."""

    dry_run: bool
    id: str


class CategoryInput(TypedDict):
    """A category, or, without a parent, a brand."""

    name: str
    parent_id: NotRequired[str | None]
    hashtags: NotRequired[list[str]]
    copy: NotRequired[str]
    variables: NotRequired[dict[str, Any]]
    # What you saw
    revision: NotRequired[int | None]


class CategoryView(TypedDict):
    """A category as it is kept."""

    dry_run: bool
    id: str
    name: str
    parent_id: str | None
    hashtags: list[str]
    copy: str
    variables: dict[str, str]
    revision: int


class Changed(TypedDict):
    """What became of each."""

    changed: list[int]


class ChannelKey(TypedDict):
    """A recipient channel by its network and address."""

    provider: str
    address: str


class ChannelView(TypedDict):
    """What a channel takes, by one network; a limit of null: none is known."""

    channel: Channel
    provider: str
    unit: str
    limit: int | None
    files: int | None
    threads: bool
    first_comment: bool
    fetches_media: bool
    needs_recipient: bool
    # An account's posts go there unless it is said otherwise
    usual: bool
    options: list[OptionView]


class CheckInput(TypedDict):
    """Where and when; left out: where it is planned, now."""

    accounts: NotRequired[list[TargetInput] | None]
    at: NotRequired[Instant | None]


class CheckView(TypedDict):
    """One gate on the way of a job."""

    name: str
    passed: bool
    message: str
    next_at: str | None
    who: str | None


class Checked(TypedDict):
    """What would go wrong; `ready`: nothing that keeps it from going out."""

    ready: bool
    findings: list[FindingView]


class ChoiceView(TypedDict):
    """One value of an option, and what people read."""

    value: str
    label: str


class Choices(TypedDict):
    """How one hears of each topic."""

    dry_run: bool
    choices: dict[str, Choice]
    # False: no mail server is set, so nobody gets mail
    mail: bool


class ChoicesInput(TypedDict):
    """What to change; topics left out stay."""

    choices: dict[str, Choice]


class ClearInput(TypedDict):
    """Whether posts that were timed by hand go too."""

    by_hand: NotRequired[bool]


class ClearedView(TypedDict):
    """What was taken off the queue; `clear_id` takes it back for ten minutes."""

    dry_run: bool
    clear_id: str | None
    canceled: list[str]
    on_their_way: list[str]
    drafts: list[str]
    undo_until: str | None


class ClockChange(TypedDict):
    """The zone's clocks are set: that day is shorter or longer."""

    at: str
    day: str
    # By how much: 60 forward, -60 back
    minutes: int


class CodeInput(TypedDict):
    """A code of the app, or a recovery code."""

    code: str


class ColumnView(TypedDict):
    """A column that is read, and the headers that are taken for it."""

    name: str
    headers: list[str]


class Complete(TypedDict):
    """What the network sent the person back with, or the answer to what it asked for."""

    state: str
    code: str
    # Who sent the person back, if it came along (RFC 9207)
    iss: NotRequired[str | None]


class ComposeInput(TypedDict):
    """The words (left out: as they are saved), where they go, and how."""

    content: NotRequired[PostFields | None]
    # Of a saved post; left out: a new one
    post_id: NotRequired[str | None]
    # What you saw of it
    revision: NotRequired[int | None]
    # As when a post is saved; with `now`: approve it
    approve: NotRequired[bool | None]
    goes: NotRequired[ComposeAction]
    accounts: NotRequired[list[TargetInput]]
    # Of `queue`, without `at`
    to: NotRequired[To]
    # Of `queue`: a slot, with an offset; of `time`: as in `schedule`
    at: NotRequired[Instant | None]
    zone: NotRequired[str | None]


class ComposeOutcome(TypedDict):
    """What it came to at one place; `refused` says why, and nothing was changed there."""

    account_id: str
    channel: str | None
    outcome: Literal["queued", "timed", "now", "already", "refused"]
    at: str | None
    zone: str | None
    # In no slot: the queue does not move it
    by_hand: bool
    message: str | None
    warnings: list[str]


class Composed(TypedDict):
    """The post as it is saved, and what it came to place by place."""

    dry_run: bool
    post: PostSaved
    places: list[ComposeOutcome]


class ConditionInput(TypedDict):
    """One thing that must hold, such as `tag is customer` or `fields.age at_least 18`."""

    what: str
    op: NotRequired[Literal["is", "is_not", "begins", "at_least", "at_most", "set", "not_set"]]
    value: NotRequired[str | float | None]


class ConditionView(TypedDict):
    """One condition of a saved filter."""

    what: str
    op: str
    value: str | int | float | None


class ConfirmInput(TypedDict):
    """What becomes of posts that were due since the backup; after a jump of the clock there are
    none.
    """

    # check: they stay missed, look at each; the others only if none of them was sent
    overdue: NotRequired[Overdue]


class ConfirmedView(TypedDict):
    """Sending goes on."""

    dry_run: bool
    kind: str
    # Posts that were due since the backup
    missed: int
    # Of these: got a new time
    moved: int
    # Of these: are drafts again
    drafts: int


class ConnectInput(TypedDict):
    """What the person typed; `account_id` connects one again."""

    fields: NotRequired[dict[str, str]]
    account_id: NotRequired[str | None]


class Connection(TypedDict):
    """Where to send the person, what to ask them for, or the accounts that are connected now."""

    dry_run: bool
    redirect: str | None
    # Complete with its state, and the person's answer as the code
    question: Question | None
    # Of what was begun and is not finished: ask with it how it went
    id: str | None
    accounts: list[Account]
    # Deliveries that want a resume choice
    held: list[str]


class ContactCount(TypedDict):
    """How many people the conditions hold for."""

    count: int


class ContactDeleted(TypedDict):
    """It is deleted."""

    dry_run: bool
    id: str


class ContactExportInput(TypedDict):
    """Whom to write: everybody, an audience's contacts, or those that conditions hold for."""

    format: NotRequired[Literal["csv", "xlsx"]]
    audience_id: NotRequired[str | None]
    filter: NotRequired[list[ConditionInput] | None]


class ContactExportView(TypedDict):
    """An export, and how far it is."""

    dry_run: bool
    id: str
    format: Literal["csv", "xlsx"]
    audience_id: str | None
    # waiting, running, ready or failed
    state: str
    reason: str | None
    percent: int
    rows_done: int
    rows_total: int
    bytes: int | None
    asked_by: str
    asked_at: str
    finished_at: str | None
    expires_at: str


class ContactFieldDeleted(TypedDict):
    """It is deleted, and its values with it."""

    dry_run: bool
    key: str


class ContactFieldInput(TypedDict):
    """A field; its key and kind stay."""

    # What templates and files name it by
    key: str
    label: str
    kind: Literal["text", "number", "date", "choice"]
    choices: NotRequired[list[str]]


class ContactFieldView(TypedDict):
    """A field as kept."""

    dry_run: bool
    key: str
    label: str
    kind: Literal["text", "number", "date", "choice"]
    choices: list[str]


class ContactInput(TypedDict):
    """What is known of a person; what is left out stays as it is."""

    # The key in another system
    external_id: NotRequired[str | None]
    first_name: NotRequired[str | None]
    last_name: NotRequired[str | None]
    company: NotRequired[str | None]
    # A code or an English name
    country: NotRequired[str | None]
    # Left out: guessed from the country
    zone: NotRequired[str | None]
    # A tag such as en or pt-BR
    language: NotRequired[str | None]
    consent: NotRequired[Consent | None]
    consent_at: NotRequired[Instant | None]
    consent_proof: NotRequired[str | None]
    source: NotRequired[str | None]
    source_at: NotRequired[Instant | None]
    source_proof: NotRequired[str | None]
    fields: NotRequired[dict[str, Any]]
    addresses: NotRequired[list[AddressInput] | None]
    tags: NotRequired[list[str] | None]
    # What you saw
    revision: NotRequired[int | None]


class ContactSearch(TypedDict):
    """Conditions that all must hold."""

    filter: list[ConditionInput]


class ContactView(TypedDict):
    """A person as kept."""

    dry_run: bool
    id: str
    name: str
    external_id: str | None
    first_name: str
    last_name: str
    company: str
    country: str | None
    zone: str | None
    zone_guessed: bool
    language: str | None
    consent: Consent
    consent_at: str | None
    consent_proof: str | None
    source: str
    source_at: str | None
    source_proof: str | None
    fields: dict[str, str | int | float]
    addresses: list[AddressView]
    tags: list[str]
    revision: int
    created_at: str
    updated_at: str


class ContactViewPage(TypedDict):
    """ContactViewPage"""

    items: list[ContactView]
    next: str | None


class ContactsFound(TypedDict):
    """Some of a search; `next` is the cursor of what follows."""

    items: list[ContactView]
    next: str | None


class ConversationChange(TypedDict):
    """What to change; what is left out stays."""

    state: NotRequired[ConversationState | None]
    # null takes it away
    label: NotRequired[ConversationLabel | None]
    # A member; null takes it away
    assignee: NotRequired[str | None]


class ConversationView(TypedDict):
    """What one person and one account wrote to each other."""

    dry_run: bool
    id: str
    account_id: str
    channel: str
    # Empty: nobody could tell who wrote
    address: str
    name: str
    contact_id: str | None
    subject: str
    state: ConversationState
    label: ConversationLabel | None
    # A member
    assignee: str | None
    last_kind: InboundKind
    last_text: str
    last_at: str
    created_at: str


class ConversationViewPage(TypedDict):
    """ConversationViewPage"""

    items: list[ConversationView]
    next: str | None


class Credentials(TypedDict):
    """What a person signs in with."""

    email: str
    password: str
    # Of the second factor, where one is on
    code: NotRequired[str | None]


class DayUse(TypedDict):
    """One local date: what went out, what did not."""

    day: str
    sent: int
    refused: int


class DayView(TypedDict):
    """One local date."""

    day: str
    posts: int
    max_per_day: int | None
    blackout: bool
    lines: list[LineView]


class DecisionInput(TypedDict):
    """What a person saw when they looked."""

    # The delivery's `fence` when you looked: a later try is another doubt
    fence: int
    # False sends it again
    is_there: bool
    # Its id over there: a thread's other parts follow it
    remote_id: NotRequired[str | None]
    # False leaves other parts unsent
    rest: NotRequired[bool]


class DeliveriesInput(TypedDict):
    """Which deliveries of the post; left out: all that it fits."""

    deliveries: NotRequired[list[str] | None]


class Delivery(TypedDict):
    """This content, by this account, to this place, at this instant."""

    dry_run: bool
    id: str
    account_id: str
    channel: str
    action: str
    post_id: str | None
    campaign_id: str | None
    recipient: str | None
    state: DeliveryState
    reason: str | None
    # What `reason` says, for programs: see the guide to reasons
    reason_code: str | None
    # What the sentence is made with
    reason_params: dict[str, Any]
    due_at: str
    wall_time: str | None
    zone: str | None
    content: dict[str, Any]
    revision: int
    # Rises with every try; a decision names the one looked at
    fence: int
    approved: bool
    mode: str
    attempts: int
    deferrals: int
    retry_limit: int
    url: str | None
    remote_id: str | None
    created_at: str
    sent_at: str | None
    failed_at: str | None
    # When it was missed, canceled or skipped
    ended_at: str | None
    # When the network was last called for it
    last_attempt_at: str | None
    # Of an unconfirmed one: when it is looked for again
    look_at: str | None
    # Of a thread unconfirmed: which part nobody answered, from 1
    unconfirmed_part: int | None
    # What keeps it from going at its time, if something does
    held: HeldView | None
    warning: str | None


class DeliveryPage(TypedDict):
    """DeliveryPage"""

    items: list[Delivery]
    next: str | None


class DifferenceView(TypedDict):
    """How two audiences overlap."""

    only_here: int
    only_there: int
    both: int


class DisconnectInput(TypedDict):
    """Why the account goes."""

    reason: NotRequired[str]


class Disconnected(TypedDict):
    """The account is let go; its deliveries are canceled."""

    dry_run: bool
    id: str
    provider: str
    remote_id: str
    handle: str
    name: str | None
    kind: str | None
    zone: str
    state: str
    state_reason: str | None
    token_expires_at: str | None
    token_refreshed_at: str | None
    lost_at: str | None
    grace_minutes: int
    unconfirmed_policy: str
    hours: dict[str, Hours | None]
    # What holds for an action that `hours` does not name; null: at any time
    usual_hours: dict[str, Hours | None]
    holidays: list[str]
    # Countries whose public holidays it keeps
    holiday_calendars: list[str]
    # By which sequences choose accounts
    labels: list[str]
    # Per action: a new account begins with fewer a day than its limit allows
    warm_up: dict[str, WarmUp]
    # Made for many (a mail relay): campaigns by it keep no limits of mail by hand
    bulk: bool
    # The name that its mails come from
    from_name: str
    # Where answers to its mails go
    reply_to: str
    # Plain text below every mail
    signature: str
    health: AccountHealthLimits
    lane: Lane | None
    # Posts that came due while it was disconnected; `resume` says what becomes of them
    to_resume: int
    created_at: str
    canceled: int
    # In a worker's hands; the closed account stops them
    in_hand: int


class DoctorFindingView(TypedDict):
    """One check: how it stands, and what to do if it is a problem."""

    code: str
    is_problem: bool
    message: str
    what_to_do: str | None
    account_id: str | None
    sequence_id: str | None


class DomainCheck(TypedDict):
    """What mailbox providers find when they look a sending domain up."""

    domain: str
    # Whether nothing stands against sending
    good: bool
    findings: list[DomainFinding]


class DomainFinding(TypedDict):
    """One thing about a domain, and what to do about it."""

    # spf, dkim, dmarc or alignment
    check: str
    code: str
    level: Level
    message: str
    # What to do; empty where nothing is to be done
    fix: str


class Draft(TypedDict):
    """A post that is not saved, and where it would go."""

    text: NotRequired[str]
    variants: NotRequired[dict[str, VariantInput]]
    media: NotRequired[list[MediaInput]]
    hashtags: NotRequired[list[str]]
    # Of a thread, after the first
    parts: NotRequired[list[str]]
    first_comment: NotRequired[str | None]
    link: NotRequired[str | None]
    title: NotRequired[str]
    category_id: NotRequired[str | None]
    labels: NotRequired[list[str]]
    accounts: NotRequired[list[TargetInput]]
    # Without an account: the network's usual limits
    channels: NotRequired[list[Channel]]


class DraftCheck(TypedDict):
    """A post that is not saved, where it would go, and when."""

    text: NotRequired[str]
    variants: NotRequired[dict[str, VariantInput]]
    media: NotRequired[list[MediaInput]]
    hashtags: NotRequired[list[str]]
    # Of a thread, after the first
    parts: NotRequired[list[str]]
    first_comment: NotRequired[str | None]
    link: NotRequired[str | None]
    title: NotRequired[str]
    category_id: NotRequired[str | None]
    labels: NotRequired[list[str]]
    accounts: list[TargetInput]
    at: NotRequired[Instant | None]
    # Of the saved post: it does not repeat itself
    post_id: NotRequired[str | None]


class DriftView(TypedDict):
    """A counter that does not say what the ledger says."""

    workspace_id: str
    scope: str
    action: str
    kind: str
    period: str
    counter: int
    ledger: int


class DroppedView(TypedDict):
    """A value that the merged contact does not take over."""

    contact_id: str
    field: str
    kept: str
    dropped: str


class Ended(TypedDict):
    """How many sessions were ended."""

    dry_run: bool
    ended: int


class EnrolledView(TypedDict):
    """How a person stands in a sequence; `next_step` counts from 0."""

    dry_run: bool
    contact_id: str
    state: Literal["waiting", "planned", "paused", "snoozed", "finished", "stopped"]
    cause: str | None
    detail: str | None
    account_id: str | None
    next_step: int
    ready_at: str
    last_sent_at: str | None
    replied_at: str | None
    bounced_at: str | None
    accepted_at: str | None
    added_at: str


class EnrolledViewPage(TypedDict):
    """EnrolledViewPage"""

    items: list[EnrolledView]
    next: str | None


class Entry(TypedDict):
    """One act."""

    id: str
    actor: str
    action: str
    subject_id: str
    before: Any
    after: Any
    happened_at: str


class EntryPage(TypedDict):
    """EntryPage"""

    items: list[Entry]
    next: str | None


class EntryView(TypedDict):
    """One delivery, with a line of what it says."""

    pill: PillView
    title: str
    text: str
    # It stands in a slot of the queue; false: timed by hand
    in_slot: bool


class EventView(TypedDict):
    """One thing that happened; `by` null: the pipeline itself."""

    at: str
    kind: str
    message: str
    by: str | None
    delivery_id: str | None
    details: dict[str, Any]


class EventsReceived(TypedDict):
    """How many events were new."""

    recorded: int


class Exchange(TypedDict):
    """One question to the network and what came back: bounded, and without anything that opens a
    door.
    """

    id: str
    # Null: it never came to the irreversible call
    attempt_id: str | None
    step: Literal["prepare", "publish", "finish", "find_out"]
    began_at: str
    seconds: float
    # Of HTTP, or the name of another protocol
    method: str
    # Host and path; hidden is what may be a key
    place: str
    headers: dict[str, str]
    body: str | None
    # Null: no answer began to come
    status: int | None
    reply_headers: dict[str, str]
    reply: str | None
    # Why there is no whole answer
    message: str
    # How many before it in the same run were not kept
    left_out: int


class Explained(TypedDict):
    """Every gate with its answer; `message` is the first thing to say."""

    message: str
    # The instant that the gates were asked about: when it is due, or now
    judged_at: str
    gates: dict[str, dict[str, Any]]


class ExportView(TypedDict):
    """An export that is packed in the background."""

    dry_run: bool
    id: str
    # waiting, running, ready or failed
    state: str
    # Why it failed
    reason: str | None
    percent: int
    rows_done: int
    # 0: not counted yet
    rows_total: int
    bytes: int | None
    asked_by: str
    asked_at: str
    finished_at: str | None
    # Until then it can be downloaded
    expires_at: str | None


class ExternalSendsInput(TypedDict):
    """What was sent, how often, when, and to whom."""

    action: Literal["email", "message", "connection_request", "inmail"]
    count: NotRequired[int]
    # When; now if it is left out
    at: NotRequired[Instant | None]
    # Whose limit of contacts it counts in too
    recipient: NotRequired[str | None]


class ExternalSendsView(TypedDict):
    """What counts now; its id takes it back."""

    dry_run: bool
    id: str
    count: int


class Fault(TypedDict):
    """One thing that is wrong with the input."""

    # Where: body.slots.0.time, query.limit
    path: str
    # What is wrong with it
    message: str
    # A stable name of the fault
    code: str


class FeedCreated(TypedDict):
    """A new address, shown this once."""

    dry_run: bool
    id: str
    name: str
    accounts: list[str] | None
    member_id: str
    created_at: str
    read_at: str | None
    url: str


class FeedInput(TypedDict):
    """An address for a calendar program."""

    name: str
    # Left out: all
    accounts: NotRequired[list[str] | None]


class FeedView(TypedDict):
    """An address, without what opens it."""

    dry_run: bool
    id: str
    name: str
    accounts: list[str] | None
    member_id: str
    created_at: str
    read_at: str | None


class FieldView(TypedDict):
    """Something that a person is asked for."""

    name: str
    label: str
    secret: bool
    hint: str
    required: bool


class FindingView(TypedDict):
    """One thing about one place; blocking: it will not go out like this."""

    account_id: str
    channel: str
    code: str
    message: str
    field: str
    blocking: bool


class FirstOwner(TypedDict):
    """The first owner and their workspace."""

    token: str
    email: str
    name: str
    password: str
    # A zone of the tz database
    zone: NotRequired[str]
    workspace: str


class FirstStart(TypedDict):
    """Whether the application waits for its first owner."""

    needed: bool


class FittedView(TypedDict):
    """A picture as the channel gets it, because it does not take the file as it is."""

    media_id: str
    message: str
    mime: str
    size: int
    width: int | None
    height: int | None
    # The changed picture; null: not made yet
    file_url: str | None


class FreeSlotView(TypedDict):
    """A slot that is still free; `capped`: its day is full."""

    account_id: str
    at: str
    wall_time: str
    zone: str
    kind: Kind
    mark: Mark


class GateView(TypedDict):
    """What holds a queue or one lane of it back."""

    queue: str
    lane: str | None
    paused: bool
    reason: str | None
    parked_until: str | None
    limit: LimitView
    in_flight: int
    # Of a rate: when the next start is free
    next_start: str | None


class Generated(TypedDict):
    """What was made; not complete: ask again for the rest."""

    dry_run: bool
    posts: int
    without_media: int
    copy_written: int
    complete: bool


class GeneratedAll(TypedDict):
    """What was made, for how many workspaces; not complete: call again."""

    dry_run: bool
    workspaces: int
    posts: int
    failed: int
    complete: bool


class GeneratedPostView(TypedDict):
    """A post that is laid out; `because`: why it stays as it is."""

    post_id: str | None
    day: str
    slot: str
    at: str
    because: str | None


class Health(TypedDict):
    """All is well, or it was a problem."""

    status: str


class HeldView(TypedDict):
    """Why something does not go at its time."""

    code: Hold
    message: str
    until: str | None


class HoldView(TypedDict):
    """Why nothing leaves until a person confirms."""

    kind: str
    message: str
    since: str
    # Posts that were due since the backup and may be out already: they are missed until you
    # confirm
    overdue: int


class HolidayView(TypedDict):
    """A date on which the account writes to nobody."""

    day: str
    name: str
    # The country whose it is; null: the account's own
    calendar: str | None


class HolidaysImportedView(TypedDict):
    """What was added."""

    dry_run: bool
    added: list[HolidayView]
    there_already: int
    # Events that are no whole days
    left_out: int


class HolidaysInput(TypedDict):
    """A calendar file, as text."""

    # iCalendar (RFC 5545)
    ics: str


class HourUse(TypedDict):
    """One hour of the week, over all weeks: Sunday is 0."""

    weekday: int
    hour: int
    sent: int


class Hours(TypedDict):
    """From when to when, on which days; Sunday is 0."""

    start: str
    end: str
    days: NotRequired[list[int]]


class ImportOptions(TypedDict):
    """How a file is imported."""

    # The file's column to ours; to "": not read. Left out: as suggested
    mapping: NotRequired[dict[str, str] | None]
    # Whom we know: replace what is given, fill gaps, or leave
    existing: NotRequired[Literal["update", "fill", "skip"]]
    # A list to put everybody on
    audience_id: NotRequired[str | None]
    provider: NotRequired[str]
    tags: NotRequired[list[str]]
    source: NotRequired[str | None]
    source_proof: NotRequired[str | None]
    consent: NotRequired[Consent | None]
    consent_proof: NotRequired[str | None]


class ImportRowView(TypedDict):
    """What became of a row; the header is row 1."""

    row: int
    verdict: str
    code: str | None
    message: str | None
    column: str | None
    value: str | None
    contact_id: str | None


class ImportRows(TypedDict):
    """Some of a report; `next` is the row to go on after."""

    items: list[ImportRowView]
    next: int | None


class ImportView(TypedDict):
    """An import, and how far it is."""

    dry_run: bool
    id: str
    kind: Literal["contacts", "channels"]
    name: str
    format: Literal["csv", "xlsx"]
    # uploaded, trying, tried, running, done, canceled, failed, undoing or undone
    state: str
    # Why it failed
    reason: str | None
    percent: int
    header: list[str]
    samples: list[list[str]]
    # The file's column to ours
    suggested: dict[str, str]
    mapping: dict[str, str] | None
    read_rows: int
    created: int
    updated: int
    unchanged: int
    refused: int
    flagged: int
    # Rows in the report
    reported: int
    # By undoing it
    removed: int
    restored: int
    # Changed since, so undoing left them
    kept: int
    asked_by: str
    asked_at: str
    finished_at: str | None
    undo_until: str | None
    expires_at: str


class Imported(TypedDict):
    """What became of each row; `taken_back`: all or nothing, so nothing was made."""

    dry_run: bool
    made: int
    again: int
    done: list[RowDone]
    problems: list[RowWrong]
    # Our column to the file's header
    columns: dict[str, str]
    # Headers that nothing was read from
    unknown: list[str]
    taken_back: bool
    # Rows behind the last that a dry run tries
    left: int


class InboundSourceCreated(TypedDict):
    """The new source; a secret that was drawn here is shown this once."""

    dry_run: bool
    source: InboundSourceView
    secret: str | None
    # What to do at the provider
    how: str


class InboundSourceInput(TypedDict):
    """A program that tells what became of messages."""

    kind: SourceKind
    # Whose messages it tells of; Unipile names its accounts itself
    account_id: NotRequired[str | None]
    # Mailgun: its webhook signing key. SendGrid: its verification key
    secret: NotRequired[str | None]
    # Amazon SES: the ARN of the SNS topic
    topic: NotRequired[str | None]


class InboundSourceRemoved(TypedDict):
    """It is removed."""

    dry_run: bool
    id: str


class InboundSourceView(TypedDict):
    """A program that tells what became of messages."""

    id: str
    kind: SourceKind
    account_id: str | None
    # Where it sends its events
    url: str
    topic: str | None
    created_at: str
    last_event_at: str | None


class IncompleteView(TypedDict):
    """A recipient for whom it cannot be rendered."""

    id: str
    missing: list[str]
    unfit: dict[str, str]


class Invitation(TypedDict):
    """An open invitation."""

    dry_run: bool
    id: str
    email: str
    role: Role
    invited_by: str
    created_at: str
    ends_at: str


class InvitationCreated(TypedDict):
    """A new invitation."""

    dry_run: bool
    id: str
    email: str
    role: Role
    invited_by: str
    created_at: str
    ends_at: str
    # Where no mail server is set: hand it on yourself, it works once, for a week
    link: str | None


class InvitationView(TypedDict):
    """What an invitation is to."""

    workspace: str
    email: str
    role: str
    # The address has an account here: sign in first
    known: bool
    ends_at: str


class Invite(TypedDict):
    """Whom to invite, and as what."""

    email: str
    role: NotRequired[Role]


class Invited(TypedDict):
    """The token of an invitation."""

    token: str


class JobChanged(TypedDict):
    """A job after it was asked to change."""

    id: int
    queue: str
    task: str
    state: State
    payload: Any
    priority: int
    created_at: str
    run_at: str
    attempts: int
    crashes: int
    snoozes: int
    lane: str | None
    # One live job of this key at a time
    unique_key: str | None
    tags: list[str]
    # What this job overrides of its task
    options: Any
    schedule: str | None
    # Rises with every claim; writes of an older one are refused
    lease: int
    lease_until: str | None
    worker: str | None
    cancel_requested: bool
    progress: Any
    output: Any
    errors: list[Any]
    finished_at: str | None
    # `requested`: its worker was asked to stop; `unchanged`: it is in no state for that
    answer: Literal["changed", "requested", "unchanged"]


class JobPage(TypedDict):
    """Some jobs, newest first; `before` of the next page is `next`."""

    items: list[JobView]
    next: int | None


class JobQueueView(TypedDict):
    """A queue: what stands in it, and whether it is open."""

    queue: str
    lane: str | None
    paused: bool
    reason: str | None
    parked_until: str | None
    limit: LimitView
    in_flight: int
    # Of a rate: when the next start is free
    next_start: str | None
    counts: dict[str, int]


class JobScheduleView(TypedDict):
    """A recurring job."""

    name: str
    task: str
    recurrence: Any
    payload: Any
    queue: str
    priority: int
    lane: str | None
    options: Any
    overlap: str
    missed: str
    paused: bool
    next_at: str | None
    last_at: str | None
    last_note: str | None
    revision: int


class JobView(TypedDict):
    """A job and how far it got."""

    id: int
    queue: str
    task: str
    state: State
    payload: Any
    priority: int
    created_at: str
    run_at: str
    attempts: int
    crashes: int
    snoozes: int
    lane: str | None
    # One live job of this key at a time
    unique_key: str | None
    tags: list[str]
    # What this job overrides of its task
    options: Any
    schedule: str | None
    # Rises with every claim; writes of an older one are refused
    lease: int
    lease_until: str | None
    worker: str | None
    cancel_requested: bool
    progress: Any
    output: Any
    errors: list[Any]
    finished_at: str | None


class Joining(TypedDict):
    """How to join: somebody new chooses a name and a password."""

    token: str
    name: NotRequired[str | None]
    password: NotRequired[str | None]
    # A zone of the tz database
    zone: NotRequired[str]


class KeyCreated(TypedDict):
    """The new key: `key` is shown this once."""

    dry_run: bool
    key: str
    shown: KeyView


class KeyEnded(TypedDict):
    """The key is revoked."""

    dry_run: bool
    id: str


class KeyView(TypedDict):
    """A key, without what proves it."""

    id: str
    name: str
    prefix: str
    role: Role
    scopes: list[str]
    accounts: list[str] | None
    publish_per_day: int | None
    member_id: str
    created_at: str
    ends_at: str | None
    last_used_at: str | None
    revoked_at: str | None


class Lane(TypedDict):
    """Where the account's deliveries wait."""

    paused: bool
    pause_reason: str | None
    paused_until: str | None
    parked_until: str | None
    park_reason: str | None
    in_flight: int


class LeasesView(TypedDict):
    """What one worker has in hand; it renews a lease with every sign of life."""

    worker: str
    kind: Literal["deliveries", "jobs"]
    held: int
    # Of these: ran out, and waits for another worker to take over
    lapsed: int
    # When the oldest of them runs out, unless it is renewed
    ends_at: str


class LengthView(TypedDict):
    """How long a text is, and may be, in the network's own unit."""

    unit: str
    length: int
    limit: int | None


class Limit(TypedDict):
    """At most `amount` of an action in a period, or seconds between two of them."""

    action: Action | Literal["*"]
    kind: Literal["hour", "day", "week", "rolling_day", "rate", "gap"]
    amount: int
    per_seconds: NotRequired[int | None]


class LimitFindingView(TypedDict):
    """What one account has planned on one date beyond a limit."""

    account_id: str
    action: str
    day: str
    limit: str
    messages: int


class LimitUse(TypedDict):
    """A limit, and what is used of its present period; nothing where it only spaces calls."""

    limit: Limit
    used: int | None
    # Today, where a warm-up or the network lowers the limit
    holds: int | None
    lowered_by: Literal["warm-up", "network"] | None


class LimitView(TypedDict):
    """How much may run: at once, and per time."""

    concurrency: int | None
    rate: RateView | None


class Limits(TypedDict):
    """An account's limits."""

    dry_run: bool
    limits: list[Limit]


class LimitsInput(TypedDict):
    """The limits that an account shall have, all of them."""

    limits: list[Limit]


class LimitsRepaired(TypedDict):
    """What was moved; the first 1,000 moves are listed."""

    dry_run: bool
    moved: int
    without_time: int
    moves: list[MessageMovedView]


class LineView(TypedDict):
    """One instant of a day."""

    at: str
    wall_time: str
    kind: Kind
    mark: Mark
    post_id: str | None
    # How the post begins
    text: str | None
    ids: list[str]
    channels: list[str]
    state: str | None
    note: str | None
    # Why its channel would refuse it: change the post
    unfit: str | None


class MailboxImportInput(TypedDict):
    """Mailboxes to connect."""

    # With a header: from_address, smtp_host and smtp_password are needed; 500 rows at most
    csv: str
    # Sign in, and connect nothing
    check_only: NotRequired[bool]


class MailboxImportRow(TypedDict):
    """One row of the file, and what became of it."""

    # Of the row in the file, the header not counted
    number: int
    address: str
    state: Literal["waiting", "connected", "checked", "failed", "refused"]
    # What was wrong, or what to know
    message: str
    account_id: str | None


class MailboxImportView(TypedDict):
    """An import of mailboxes, row by row."""

    dry_run: bool
    id: str
    check_only: bool
    asked_at: str
    # null while rows are tried
    finished_at: str | None
    rows: list[MailboxImportRow]


class MailboxInput(TypedDict):
    """Where replies and bounces arrive."""

    host: str
    # 993, or 143
    port: NotRequired[int | None]
    security: NotRequired[Literal["tls", "starttls", "none"]]
    username: str
    # xoauth2: by the account's own access, as Google and Microsoft ask for
    auth: NotRequired[Literal["password", "xoauth2"]]
    # Often one for apps alone; stored sealed
    password: NotRequired[str | None]


class MailboxRemoved(TypedDict):
    """It is read no more."""

    dry_run: bool
    account_id: str


class MailboxView(TypedDict):
    """A mailbox that is read, and whether that works."""

    dry_run: bool
    host: str
    port: int
    security: str
    username: str
    auth: str
    # New mail is read at once, not only every two minutes
    waits: bool
    # When it was read last
    polled_at: str | None
    next_poll_at: str
    # Why it could not be read
    error: str | None


class Me(TypedDict):
    """Who one is."""

    dry_run: bool
    id: str
    email: str
    name: str
    zone: str
    week_start: int
    instance_owner: bool
    second_factor: bool
    # Why nothing is sent until an owner of this installation confirms; null: all is well
    sending_held: str | None
    workspaces: list[Membership]


class MediaAddress(TypedDict):
    """Where a file is."""

    url: str
    # As people see it; usually that of the address
    name: NotRequired[str | None]
    alt: NotRequired[str]


class MediaChange(TypedDict):
    """A description for those who cannot see it, and a name for people."""

    alt: NotRequired[str | None]
    name: NotRequired[str | None]


class MediaDeleted(TypedDict):
    """Nobody can choose it any more."""

    dry_run: bool
    id: str


class MediaDetailed(TypedDict):
    """A file with the posts that show it."""

    dry_run: bool
    id: str
    kind: MediaKind
    mime: str
    size: int
    width: int | None
    height: int | None
    seconds: float | None
    name: str
    alt: str
    # What the upload changed or could not see
    notes: list[str]
    created_at: str
    created_by: str
    file_url: str
    thumbnail_url: str | None
    posts: list[PostNamed]


class MediaInput(TypedDict):
    """A file of the library; without `alt`, its own description counts."""

    media_id: str
    alt: NotRequired[str | None]


class MediaUploaded(TypedDict):
    """It is in the library; `known`: it was so before, and nothing was stored again."""

    dry_run: bool
    id: str
    kind: MediaKind
    mime: str
    size: int
    width: int | None
    height: int | None
    seconds: float | None
    name: str
    alt: str
    # What the upload changed or could not see
    notes: list[str]
    created_at: str
    created_by: str
    file_url: str
    thumbnail_url: str | None
    known: bool


class MediaUsed(TypedDict):
    """A file that it shows, with the post's own description."""

    media_id: str
    alt: str | None


class MediaView(TypedDict):
    """A file of the library."""

    dry_run: bool
    id: str
    kind: MediaKind
    mime: str
    size: int
    width: int | None
    height: int | None
    seconds: float | None
    name: str
    alt: str
    # What the upload changed or could not see
    notes: list[str]
    created_at: str
    created_by: str
    file_url: str
    thumbnail_url: str | None


class MediaViewPage(TypedDict):
    """MediaViewPage"""

    items: list[MediaView]
    next: str | None


class Member(TypedDict):
    """A person's place in a workspace."""

    dry_run: bool
    id: str
    email: str
    name: str
    role: Role
    second_factor: bool
    created_at: str


class MemberView(TypedDict):
    """A contact, or a recipient channel of a provider."""

    kind: Literal["contact", "channel"]
    id: str
    provider: str


class MemberViewPage(TypedDict):
    """MemberViewPage"""

    items: list[MemberView]
    next: str | None


class MembersInput(TypedDict):
    """Contacts and recipient channels, in the order in which they shall stand."""

    contact_ids: NotRequired[list[str]]
    channels: NotRequired[list[ChannelKey]]


class MembersView(TypedDict):
    """What became of those who were named."""

    dry_run: bool
    changed: int
    there_already: int
    unknown: list[MemberView]
    size: int


class Membership(TypedDict):
    """A workspace that one is in."""

    workspace_id: str
    name: str
    role: str
    member_id: str


class MergeInput(TypedDict):
    """Contacts that are the same person."""

    other_ids: list[str]


class MergeView(TypedDict):
    """What the merged contact is, and what is lost by it. With `dry_run`: would be."""

    dry_run: bool
    contact: ContactView
    dropped: list[DroppedView]
    merged: list[str]


class MessageInput(TypedDict):
    """One template to one recipient."""

    template_id: str
    account_id: str
    # An address, a chat or a profile, as the channel has it. Left out: the contact's
    to: NotRequired[str | None]
    # Who gets it; their fields are variables, given values win
    contact_id: NotRequired[str | None]
    to_name: NotRequired[str | None]
    variables: NotRequired[dict[str, Any]]
    channel: NotRequired[
        Literal[
            "email",
            "telegram",
            "linkedin_message",
            "linkedin_invitation",
            "linkedin_inmail",
            "slack",
            "discord",
            "webhook",
        ]
    ]
    # Left out: the newest
    version: NotRequired[int | None]
    # Left out: now
    send_at: NotRequired[Instant | None]


class MessageMovedView(TypedDict):
    """A message with its old and its new time; without one, there is no time within a year."""

    delivery_id: str
    sequence_id: str
    contact_id: str
    account_id: str
    limit: str
    was_at: str
    now_at: str | None


class MessageReplannedView(TypedDict):
    """A message before and after; without a new time it stays as it is."""

    delivery_id: str
    contact_id: str
    step: int
    was_account_id: str
    account_id: str
    was_at: str
    now_at: str | None


class MessageView(TypedDict):
    """It is handed over: ask about it as a delivery of that id."""

    dry_run: bool
    delivery_id: str
    channel: str
    to: str
    subject: str
    due_at: str
    template_version: int
    # What lets it wait, if something does
    waits: list[str]


class Move(TypedDict):
    """One goes before or after another."""

    verb: Literal["move"]
    id: str
    before: NotRequired[str | None]
    after: NotRequired[str | None]
    revision: NotRequired[int | None]


class MoveToTop(TypedDict):
    """One goes first."""

    verb: Literal["to_top"]
    id: str
    revision: NotRequired[int | None]


class MoveView(TypedDict):
    """A post that goes to another instant."""

    post: GeneratedPostView
    to: OccurrenceView


class MovedView(TypedDict):
    """A delivery that got another instant."""

    id: str
    post_id: str | None
    was_at: str
    now_at: str


class Network(TypedDict):
    """A network that accounts can be connected of."""

    provider: str
    fields: list[FieldView]
    # Whether the installation has what connecting one needs
    ready: bool
    # What to do if not; else what a person is asked for
    message: str


class NewKey(TypedDict):
    """A key to make."""

    name: str
    role: NotRequired[Role]
    scopes: list[str]
    # The accounts it may use; all, if not given
    accounts: NotRequired[list[str] | None]
    publish_per_day: NotRequired[int | None]
    ends_at: NotRequired[Instant | None]


class NewWebhook(TypedDict):
    """A program to tell."""

    url: str
    # None: all
    kinds: NotRequired[list[EventKind]]


class NewWorkspace(TypedDict):
    """A workspace to make."""

    name: str
    # A zone of the tz database
    zone: NotRequired[str]


class NotFailedView(TypedDict):
    """A delivery that was asked for and has not failed."""

    delivery_id: str
    state: DeliveryState


class NotMovedView(TypedDict):
    """One that could not move, and why."""

    id: str
    why: str


class NotQueuedView(TypedDict):
    """Nothing was changed on this account, and why."""

    outcome: Literal["not_queued"]
    account_id: str
    message: str
    passed: PassedView | None


class NoteInput(TypedDict):
    """A note."""

    text: str


class NoteView(TypedDict):
    """What somebody wrote about a contact."""

    dry_run: bool
    id: str
    text: str
    written_by: str
    created_at: str


class Notified(TypedDict):
    """What a network told was taken."""

    # Accounts that are connected now
    connected: int


class Occurrence(TypedDict):
    """One coming occurrence; `mark` tells where clocks change."""

    at: str
    wall_time: str
    zone: str
    mark: str


class OccurrenceView(TypedDict):
    """A time that the rule says."""

    day: str
    slot: str
    at: str
    mark: Mark


class OptionView(TypedDict):
    """What a person may choose on a channel; it goes into the `options` of the channel's variant."""

    name: str
    label: str
    takes: OptionType
    choices: list[ChoiceView]
    hint: str


class OwnKey(TypedDict):
    """The key that asks, and where it belongs."""

    workspace_id: str
    workspace_name: str
    key: KeyView


class PassedView(TypedDict):
    """Why not earlier: how many slots were passed over and why, the first few by name."""

    past: int
    taken: int
    skipped: int
    full_days: int
    blackout_days: int
    first: list[RefusalView]


class PasswordChange(TypedDict):
    """The password as it is, and as it shall be."""

    old: str
    new: str


class PasswordInput(TypedDict):
    """The password, once more."""

    password: str


class Pause(TypedDict):
    """Why, and until when."""

    reason: str
    until: NotRequired[Instant | None]


class PauseInput(TypedDict):
    """Why, and until when."""

    reason: str
    until: NotRequired[Instant | None]


class PauseQueue(TypedDict):
    """Why, and whether only one lane of it."""

    reason: str
    lane: NotRequired[str | None]


class PausedView(TypedDict):
    """Nothing of the account is claimed any more."""

    dry_run: bool
    reason: str
    until: str | None
    under_way: int
    revision: int


class PersonData(TypedDict):
    """Everything that is stored about one person."""

    contact: dict[str, Any]
    notes: list[dict[str, Any]]
    audiences: list[dict[str, Any]]
    suppressions: list[dict[str, Any]]
    # Messages to them, also those that wait
    sent: list[dict[str, Any]]
    # Replies, bounces and opens
    received: list[dict[str, Any]]
    conversations: list[dict[str, Any]]


class PersonErased(TypedDict):
    """What was erased."""

    dry_run: bool
    contact_id: str
    addresses: int
    deliveries: int
    inbound: int


class PillView(TypedDict):
    """How it stands on one account and channel."""

    delivery_id: str
    post_id: str
    account_id: str
    handle: str
    provider: str
    channel: str
    state: DeliveryState
    label: str
    at: str
    zone: str
    wall_time: str | None
    url: str | None
    reason: str | None
    held: HeldView | None
    # Why its channel would refuse it: change the post
    unfit: str | None
    attempts: int
    last_attempt_at: str | None


class PlanView(TypedDict):
    """What becomes of everything in the next 30 days."""

    added: list[OccurrenceView]
    moved: list[MoveView]
    removed: list[GeneratedPostView]
    kept: list[GeneratedPostView]
    retargeted: list[RetargetView]
    unchanged: int


class PlanWarningView(TypedDict):
    """Something to know before it starts."""

    code: str
    message: str
    account_id: str | None


class PlannedTimeView(TypedDict):
    """One person's next message."""

    contact_id: str
    account_id: str
    step: int
    at: str
    limit: str | None


class PoolInput(TypedDict):
    """The files that the pool shall hold, all of them."""

    media_ids: list[str]


class PoolView(TypedDict):
    """A category's pool."""

    dry_run: bool
    assets: list[AssetView]


class PostChange(TypedDict):
    """What is to be different; what is left out stays. An optional field is emptied by null."""

    text: NotRequired[str | None]
    variants: NotRequired[dict[str, VariantInput] | None]
    media: NotRequired[list[MediaInput] | None]
    hashtags: NotRequired[list[str] | None]
    parts: NotRequired[list[str] | None]
    first_comment: NotRequired[str | None]
    link: NotRequired[str | None]
    title: NotRequired[str | None]
    category_id: NotRequired[str | None]
    labels: NotRequired[list[str] | None]
    approve: NotRequired[bool | None]
    # What you saw; or send If-Match
    revision: NotRequired[int | None]


class PostDeleted(TypedDict):
    """It is gone; what is out there stays there."""

    dry_run: bool
    # Deliveries that will not be sent
    canceled: list[str]
    sent: int
    message: str | None


class PostFields(TypedDict):
    """What a post says, and how it is filed."""

    text: NotRequired[str]
    variants: NotRequired[dict[str, VariantInput]]
    media: NotRequired[list[MediaInput]]
    hashtags: NotRequired[list[str]]
    # Of a thread, after the first
    parts: NotRequired[list[str]]
    first_comment: NotRequired[str | None]
    link: NotRequired[str | None]
    title: NotRequired[str]
    category_id: NotRequired[str | None]
    labels: NotRequired[list[str]]


class PostInput(TypedDict):
    """A new post."""

    text: NotRequired[str]
    variants: NotRequired[dict[str, VariantInput]]
    media: NotRequired[list[MediaInput]]
    hashtags: NotRequired[list[str]]
    # Of a thread, after the first
    parts: NotRequired[list[str]]
    first_comment: NotRequired[str | None]
    link: NotRequired[str | None]
    title: NotRequired[str]
    category_id: NotRequired[str | None]
    labels: NotRequired[list[str]]
    # Left out: as the workspace says; true: if you may; false: never
    approve: NotRequired[bool | None]


class PostNamed(TypedDict):
    """A post that shows it."""

    dry_run: bool
    id: str
    title: str


class PostSaved(TypedDict):
    """A post after a save, with what a person should know about it."""

    dry_run: bool
    id: str
    title: str
    text: str
    variants: dict[str, VariantView]
    media: list[MediaUsed]
    hashtags: list[str]
    parts: list[str]
    first_comment: str | None
    link: str | None
    category_id: str | None
    labels: list[str]
    source: Source
    author_id: str | None
    blockers: list[str]
    revision: int
    approved: bool
    approval: ApprovalView | None
    created_at: str
    updated_at: str
    state: PostState
    published_at: str | None
    scheduled_at: str | None
    pills: list[PillView]
    # The rule that made it
    rule_id: str | None
    # The month that the rule made it for, as YYYY-MM
    target_month: str | None
    # When a network was last called for it
    last_attempt_at: str | None
    why_not_approved: str | None
    # An approval that it had is gone
    voided: bool
    too_late: list[TooLateView]
    message: str | None
    # What would go wrong where it is planned
    findings: list[FindingView]


class PostView(TypedDict):
    """A post as it stands, with what becomes of it on each account and channel."""

    dry_run: bool
    id: str
    title: str
    text: str
    variants: dict[str, VariantView]
    media: list[MediaUsed]
    hashtags: list[str]
    parts: list[str]
    first_comment: str | None
    link: str | None
    category_id: str | None
    labels: list[str]
    source: Source
    author_id: str | None
    blockers: list[str]
    revision: int
    approved: bool
    approval: ApprovalView | None
    created_at: str
    updated_at: str
    state: PostState
    published_at: str | None
    scheduled_at: str | None
    pills: list[PillView]
    # The rule that made it
    rule_id: str | None
    # The month that the rule made it for, as YYYY-MM
    target_month: str | None
    # When a network was last called for it
    last_attempt_at: str | None


class PostViewPage(TypedDict):
    """PostViewPage"""

    items: list[PostView]
    next: str | None


class PreviewInput(TypedDict):
    """Values to render with; without any, examples are made up."""

    # Whose fields are variables; given values win
    contact_id: NotRequired[str | None]
    variables: NotRequired[dict[str, Any] | None]
    channel: NotRequired[
        Literal[
            "email",
            "telegram",
            "linkedin_message",
            "linkedin_invitation",
            "linkedin_inmail",
            "slack",
            "discord",
            "webhook",
        ]
    ]
    version: NotRequired[int | None]


class PreviewMediaView(TypedDict):
    """A file as it goes along."""

    media_id: str
    name: str
    # PHOTO, VIDEO or DOCUMENT
    kind: str


class PreviewView(TypedDict):
    """The post as one channel gets it."""

    account_id: str | None
    handle: str | None
    provider: str
    channel: Channel
    text: str
    parts: list[str]
    first_comment: str | None
    link: str | None
    media: list[dict[str, Any]]
    # Of the media, those that are changed to fit
    fitted: list[FittedView]
    length: int
    limit: int | None
    unit: str
    part_lengths: list[LengthView]
    problems: list[TroubleView]


class Problem(TypedDict):
    """An error, in the shape of RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    # The request's id, for the logs
    instance: str | None
    errors: list[Fault]


class Profile(TypedDict):
    """What a person may change of themselves."""

    name: NotRequired[str | None]
    zone: NotRequired[str | None]
    # Sunday is 0
    week_start: NotRequired[int | None]


class Proposed(TypedDict):
    """What an authenticator app reads; shown once."""

    dry_run: bool
    address: str


class PublishTargetView(TypedDict):
    """What the click found or did at one place."""

    delivery_id: str
    account_id: str
    channel: str
    click: Click
    attempt_id: str | None
    url: str | None
    warnings: list[str]


class Published(TypedDict):
    """How many deliveries were taken up; not complete: call again."""

    dry_run: bool
    ran: int
    complete: bool


class PublishingView(TypedDict):
    """It goes out now, place by place."""

    dry_run: bool
    post: PostView
    places: list[PublishTargetView]
    # Accounts that cannot be asked, and why
    refused: list[RefusedTargetView]


class Question(TypedDict):
    """One more thing that the network asks for, such as a code that it sent."""

    # For `complete`, with the answer as the code
    state: str
    message: str
    field: FieldView


class QueueTargetInput(TypedDict):
    """An account, and a channel of it where not all usual ones are meant."""

    account_id: str
    channel: NotRequired[str | None]


class QueueView(TypedDict):
    """Some days of a queue, with what the head of a screen needs."""

    dry_run: bool
    revision: int
    zone: str
    now_there: str
    paused: bool
    pause_reason: str | None
    paused_until: str | None
    account_state: str
    enabled: bool
    # Posts that came due while the account was disconnected: resume decides
    to_resume: int
    next_send: str | None
    days: list[DayView]
    next_day: str


class QueuedView(TypedDict):
    """The post has an instant on this account."""

    outcome: Literal["queued"]
    account_id: str
    ids: list[str]
    at: str
    zone: str
    wall_time: str
    mark: Mark
    passed: PassedView | None
    moved: list[MovedView]
    revision: int
    warnings: list[str]


class Rate(TypedDict):
    """How a network answered within a day."""

    provider: str
    calls: int
    sent: int
    outcomes: dict[str, int]


class RateView(TypedDict):
    """At most `count` starts in so many seconds; `burst` of them may go together."""

    count: int
    per_seconds: float
    burst: int


class ReadyMessageInput(TypedDict):
    """A message that was written for one person."""

    contact_id: str
    channel: NotRequired[
        Literal["email", "linkedin_message", "linkedin_invitation", "linkedin_inmail"]
    ]
    subject: NotRequired[str]
    text: str
    wait_days: NotRequired[int]


class ReadyMessagesInput(TypedDict):
    """Ready-made messages; several for one person follow each other."""

    messages: list[ReadyMessageInput]


class Reason(TypedDict):
    """Why."""

    reason: NotRequired[str]


class ReceivedView(TypedDict):
    """What came in."""

    id: str
    kind: InboundKind
    source: str
    subject: str
    text: str
    code: str | None
    diagnostic: str
    # What it answers to
    delivery_id: str | None
    matched_by: str | None
    happened_at: str


class RecipientChannelDeleted(TypedDict):
    """It is deleted; what was sent to it stays in the ledger."""

    dry_run: bool
    id: str


class RecipientChannelInput(TypedDict):
    """A channel; what is left out stays as it is."""

    provider: str
    address: str
    title: NotRequired[str | None]
    category: NotRequired[str | None]


class RecipientChannelKey(TypedDict):
    """Which channel is meant."""

    provider: str
    address: str


class RecipientChannelView(TypedDict):
    """A channel and its health."""

    dry_run: bool
    provider: str
    # The one spelling of its address
    id: str
    address: str
    title: str | None
    category: str | None
    active: bool
    # Failures in a row; at 5 it is inactive
    error_count: int
    last_error: str | None
    created_at: str
    updated_at: str


class RecipientChannelViewPage(TypedDict):
    """RecipientChannelViewPage"""

    items: list[RecipientChannelView]
    next: str | None


class RecipientInput(TypedDict):
    """Somebody, and their values."""

    id: str
    variables: dict[str, Any]


class Recovery(TypedDict):
    """Codes for the day when the phone is gone; shown once."""

    dry_run: bool
    codes: list[str]


class Redrive(TypedDict):
    """Which dead letters to bring back."""

    queue: NotRequired[str | None]
    task: NotRequired[str | None]
    limit: NotRequired[int]


class RefusalView(TypedDict):
    """A slot that was passed over, or all slots of some days."""

    reason: str
    day: str
    instant: str | None
    last_day: str | None


class RefusedLineView(TypedDict):
    """A line that was left out, and why."""

    line: int
    column: str
    code: str
    message: str


class RefusedTargetView(TypedDict):
    """This account is disconnected: nothing was changed there."""

    account_id: str
    message: str


class Removed(TypedDict):
    """It is gone."""

    dry_run: bool
    id: str


class Renaming(TypedDict):
    """One slot of the week that became another of the same day; its posts go along. Sunday is 0."""

    day: int
    was: str
    now: str


class Reordered(TypedDict):
    """Who holds which instant now; the instants themselves stay."""

    dry_run: bool
    moved: list[MovedView]
    stays: list[NotMovedView]
    revision: int


class ReplanInput(TypedDict):
    """Which unsent messages are planned again."""

    # Only those of this account
    account_id: NotRequired[str | None]
    # Give messages of accounts that cannot send, or of the named one, to the others
    reassign: NotRequired[bool]


class ReplyInput(TypedDict):
    """What to write."""

    text: str
    # Close the conversation with it
    close: NotRequired[bool]


class ReplySent(TypedDict):
    """It is handed over: ask about it as a delivery of that id."""

    dry_run: bool
    delivery_id: str
    due_at: str
    # What lets it wait, if something does
    waits: list[str]


class ReportLineView(TypedDict):
    """What became of one step's messages, of one variant, by one account."""

    step: int
    template_version_id: str | None
    account_id: str
    waiting: int
    sent: int
    unconfirmed: int
    not_sent: int
    replied: int
    bounced: int
    accepted: int


class RescueInput(TypedDict):
    """What is to become of missed posts; all of them unless some are named."""

    choice: ResumeChoice
    ids: NotRequired[list[str] | None]


class RescuedView(TypedDict):
    """Where they go now."""

    dry_run: bool
    moved: list[MovedView]
    drafts: list[str]
    gone: list[str]
    full: list[str]
    # Their channel would not take them: change them first
    unfit: list[str]
    revision: int
    warnings: list[str]


class Reset(TypedDict):
    """The token of the mail, and the new password."""

    token: str
    password: str


class ResetInput(TypedDict):
    """Whose password is forgotten."""

    email: str


class ResetOnItsWay(TypedDict):
    """The same for every address: whether it is known is not told."""

    # Whether this installation sends mail; if not, ask who runs it: `cadenza person reset`
    mails: bool


class Resume(TypedDict):
    """What becomes of what came due meanwhile."""

    # Needed where something came due meanwhile
    choice: NotRequired[ResumeChoice | None]


class ResumeInput(TypedDict):
    """What becomes of what came due meanwhile."""

    choice: NotRequired[ResumeChoice]
    minutes_apart: NotRequired[int]


class ResumeQueue(TypedDict):
    """Whether only one lane of it."""

    lane: NotRequired[str | None]


class ResumedView(TypedDict):
    """It runs again."""

    dry_run: bool
    choice: ResumeChoice
    held: list[str]
    moved: list[MovedView]
    taken_back: list[str]
    revision: int
    was_paused: bool


class RetargetView(TypedDict):
    """A post that goes to other places."""

    post: GeneratedPostView
    add: list[TargetView]
    drop: list[TargetView]


class Retargeted(TypedDict):
    """Where a rule shall go from now on."""

    targets: list[TargetInput]


class RetryingView(TypedDict):
    """These go again."""

    dry_run: bool
    post: PostView
    deliveries: list[str]
    left: list[NotFailedView]


class Reverse(TypedDict):
    """Last to first."""

    verb: Literal["reverse"]
    revision: NotRequired[int | None]


class RoleInput(TypedDict):
    """The role that a member shall have."""

    role: Role


class RowDone(TypedDict):
    """A row that is a post; `again`: it was one before."""

    row: int
    post_id: str
    approved: bool
    due_at: str | None
    again: bool
    notes: list[str]


class RowWrong(TypedDict):
    """What is wrong with a row, and what to do; the header is row 1."""

    row: int
    column: str
    wrong: str
    todo: str


class RpcMessage(TypedDict):
    """A JSON-RPC message."""

    jsonrpc: Literal["2.0"]
    method: str
    id: NotRequired[int | str | None]
    params: NotRequired[dict[str, Any]]


class RuleChange(TypedDict):
    """The rule as it shall be, all of it."""

    name: str
    category_id: str
    # kind weekly, daily, monthly or interval, with its weekdays, days, times, step
    pattern: dict[str, Any]
    # A zone of the tz database
    zone: str
    # A date or wall time in the zone
    starts: str
    ends: NotRequired[str | None]
    targets: list[TargetInput]
    pool_id: NotRequired[str | None]
    needs_media: NotRequired[bool]
    gap: NotRequired[Gap]
    fold: NotRequired[Fold]
    # What you saw
    revision: NotRequired[int | None]


class RuleInput(TypedDict):
    """When, where and from what posts are laid out."""

    name: str
    category_id: str
    # kind weekly, daily, monthly or interval, with its weekdays, days, times, step
    pattern: dict[str, Any]
    # A zone of the tz database
    zone: str
    # A date or wall time in the zone
    starts: str
    ends: NotRequired[str | None]
    targets: list[TargetInput]
    pool_id: NotRequired[str | None]
    needs_media: NotRequired[bool]
    gap: NotRequired[Gap]
    fold: NotRequired[Fold]


class RuleSaved(TypedDict):
    """The rule as it is now, or would be, and what becomes of its posts."""

    dry_run: bool
    rule: RuleView
    plan: PlanView


class RuleView(TypedDict):
    """A rule as it is kept."""

    dry_run: bool
    id: str
    name: str
    category_id: str
    pool_id: str | None
    needs_media: bool
    pattern: dict[str, Any]
    zone: str
    starts: str
    ends: str | None
    gap: Gap
    fold: Fold
    targets: list[TargetView]
    state: RuleState
    revision: int


class RunwayView(TypedDict):
    """How long the queue lasts."""

    posts: int
    last_at: str | None
    dry_at: str | None
    empty_slots: int


class ScheduleChange(TypedDict):
    """What to change of a schedule, and what becomes of the posts that stand in it."""

    slots: NotRequired[dict[str, list[Any]] | list[dict[str, Any]] | None]
    name: NotRequired[str | None]
    zone: NotRequired[str | None]
    max_per_day: NotRequired[int | None]
    no_max_per_day: NotRequired[bool]
    enabled: NotRequired[bool | None]
    blackouts: NotRequired[list[str] | None]
    how: NotRequired[How]
    # Which time became which; left out, each that is gone is paired with the nearest new one
    renamed: NotRequired[list[Renaming] | None]
    revision: NotRequired[int | None]


class ScheduleChanged(TypedDict):
    """What the change does to the posts in the queue."""

    dry_run: bool
    keeps: int
    moves: list[MovedView]
    pinned: list[str]
    # By another zone: fixed-time posts keep their instant, so their clock time differs
    fixed: list[str]
    revision: int


class ScheduleInput(TypedDict):
    """The weekly slots of an account, as a map of weekdays (Sunday is 0) or as a flat list."""

    slots: dict[str, list[Any]] | list[dict[str, Any]]
    name: NotRequired[str]
    zone: NotRequired[str | None]
    max_per_day: NotRequired[int | None]
    enabled: NotRequired[bool]
    blackouts: NotRequired[list[str]]


class ScheduleView(TypedDict):
    """An account's weekly slots."""

    dry_run: bool
    account_id: str
    name: str
    zone: str
    slots_by_day: dict[str, Any]
    max_per_day: int | None
    enabled: bool
    blackouts: list[str]
    revision: int


class ScheduledView(TypedDict):
    """What became of each place."""

    dry_run: bool
    post: PostView
    places: list[TimedView | UnchangedView]
    # Accounts that cannot be asked, and why
    refused: list[RefusedTargetView]


class SentView(TypedDict):
    """What we sent."""

    delivery_id: str
    state: str
    subject: str
    text: str
    due_at: str
    sent_at: str | None
    # Who wrote it here; null: a planned message
    written_by: str | None


class SequenceChange(TypedDict):
    """What is to be different; steps only while it is a draft."""

    account_ids: NotRequired[list[str] | None]
    # Instead of a list: every account with one of these labels, also later ones
    account_labels: NotRequired[list[str] | None]
    assignment: NotRequired[Literal["round_robin", "balanced", "sticky"] | None]
    shortest_gap: NotRequired[int | None]
    longest_gap: NotRequired[int | None]
    # Spread over the day's hours
    even: NotRequired[bool | None]
    # Plan within the same hours of the recipient's zone too
    recipient_hours: NotRequired[bool | None]
    # Unsubscribes and complaints always stop
    stop_on: NotRequired[list[Literal["reply", "bounce", "accepted"]] | None]
    name: NotRequired[str | None]
    steps: NotRequired[list[SequenceStepInput] | None]


class SequenceDayView(TypedDict):
    """One local date of one account; `expected` are follow-ups, an estimate."""

    account_id: str
    action: str
    day: str
    planned: int
    others: int
    expected: int
    cap: int | None


class SequenceDeleted(TypedDict):
    """The draft is deleted; contacts and templates stay."""

    dry_run: bool
    id: str


class SequenceInput(TypedDict):
    """A new sequence: a draft until it is started."""

    account_ids: NotRequired[list[str] | None]
    # Instead of a list: every account with one of these labels, also later ones
    account_labels: NotRequired[list[str] | None]
    assignment: NotRequired[Literal["round_robin", "balanced", "sticky"] | None]
    shortest_gap: NotRequired[int | None]
    longest_gap: NotRequired[int | None]
    # Spread over the day's hours
    even: NotRequired[bool | None]
    # Plan within the same hours of the recipient's zone too
    recipient_hours: NotRequired[bool | None]
    # Unsubscribes and complaints always stop
    stop_on: NotRequired[list[Literal["reply", "bounce", "accepted"]] | None]
    name: str
    steps: NotRequired[list[SequenceStepInput]]


class SequencePauseInput(TypedDict):
    """Why it is paused."""

    reason: NotRequired[str]


class SequencePeopleInput(TypedDict):
    """Whom to add: contacts, or an audience; of a large one the answer says where to go on."""

    contact_ids: NotRequired[list[str]]
    audience_id: NotRequired[str | None]
    after: NotRequired[str]


class SequencePeopleView(TypedDict):
    """What became of those who were named."""

    dry_run: bool
    added: int
    there_already: list[str]
    unknown: list[str]
    unreachable: list[str]
    next: str | None


class SequencePlanView(TypedDict):
    """What the planner would do now; nothing is stored."""

    messages: int
    without_time: int
    first_at: str | None
    last_at: str | None
    finish_on: str | None
    binding: str | None
    days: list[SequenceDayView]
    warnings: list[PlanWarningView]
    times: list[PlannedTimeView]


class SequenceReplannedView(TypedDict):
    """What moved; the first 1,000 moves are listed."""

    dry_run: bool
    moved: int
    without_time: int
    reassigned: int
    # People without a time who get another account
    unassigned: int
    moves: list[MessageReplannedView]


class SequenceReportView(TypedDict):
    """People by state and by what stopped them, and messages by step, variant and account."""

    people: dict[str, int]
    stopped: dict[str, int]
    lines: list[ReportLineView]


class SequenceSnoozeInput(TypedDict):
    """Until when a person is left alone."""

    until: Instant


class SequenceStepInput(TypedDict):
    """One message of a sequence."""

    channel: NotRequired[
        Literal["email", "linkedin_message", "linkedin_invitation", "linkedin_inmail"]
    ]
    variants: list[StepVariantInput]
    # Days within the account's hours after the step before
    wait_days: NotRequired[int]
    # accepted: once the connection request is accepted
    only_if: NotRequired[Literal["accepted"] | None]
    # Answer the mail before
    same_thread: NotRequired[bool]


class SequenceStepView(TypedDict):
    """One message of a sequence."""

    channel: str
    variants: list[StepVariantView]
    wait_days: int
    only_if: str | None
    same_thread: bool


class SequenceView(TypedDict):
    """A sequence."""

    dry_run: bool
    id: str
    name: str
    state: Literal["draft", "running", "paused", "ended"]
    state_reason: str | None
    steps: list[SequenceStepView]
    account_ids: list[str]
    account_labels: list[str]
    assignment: Literal["round_robin", "balanced", "sticky"]
    shortest_gap: int
    longest_gap: int
    even: bool
    recipient_hours: bool
    stop_on: list[str]
    created_at: str
    updated_at: str
    started_at: str | None
    ended_at: str | None


class SessionView(TypedDict):
    """One place where one is signed in."""

    id: str
    address: str
    agent: str
    created_at: str
    seen_at: str
    ends_at: str
    current: bool


class SetOrder(TypedDict):
    """The whole order: posts or deliveries, first to last."""

    verb: Literal["order"]
    ids: list[str]
    # Of the queue, as it was seen
    revision: int


class Shuffle(TypedDict):
    """All in an order that the seed decides: the same seed, the same order."""

    verb: Literal["shuffle"]
    seed: int | str
    revision: NotRequired[int | None]


class SignedIn(TypedDict):
    """Who is signed in; the cookie came with it."""

    person_id: str
    workspace_id: str | None


class SignupFieldModel(TypedDict):
    """One thing that a visitor is asked."""

    # first_name, last_name, company, country, language, or a field of your own
    key: str
    label: str
    required: NotRequired[bool]


class SignupFormDeleted(TypedDict):
    """It is deleted; who confirmed stays a contact."""

    dry_run: bool
    id: str


class SignupFormModel(TypedDict):
    """A form, as a whole."""

    name: str
    # The list that people join
    audience_id: str
    # The account that mails the link to confirm
    account_id: str
    # Not active: nobody can sign up
    active: NotRequired[bool]
    texts: NotRequired[SignupTextsModel]
    # Asked besides the address
    fields: NotRequired[list[SignupFieldModel]]
    # Sites that may show it, such as https://www.example.org; none: every site
    origins: NotRequired[list[str]]
    # Where visitors go on
    redirect_url: NotRequired[str | None]
    # Where they go on after confirming
    confirmed_url: NotRequired[str | None]


class SignupFormView(TypedDict):
    """A form, what to put on a site, and how many signed up by it."""

    dry_run: bool
    id: str
    name: str
    audience_id: str
    account_id: str
    active: bool
    texts: SignupTextsModel
    fields: list[SignupFieldModel]
    origins: list[str]
    redirect_url: str | None
    confirmed_url: str | None
    revision: int
    created_at: str
    updated_at: str
    # The form as a page of its own
    url: str
    # The form as HTML, to put on a site and to style there
    html: str
    # The form in a frame, to put on a site
    iframe: str
    # Who signed up and has not confirmed yet
    pending: int
    confirmed: int


class SignupTextsModel(TypedDict):
    """What visitors read; plain words."""

    title: NotRequired[str]
    intro: NotRequired[str]
    # Kept as proof with each sign-up
    consent: NotRequired[str]
    button: NotRequired[str]
    # After signing up
    pending: NotRequired[str]
    # Above the button that confirms
    confirm: NotRequired[str]
    # After confirming
    confirmed: NotRequired[str]
    mail_subject: NotRequired[str]
    # Plain text, with {{confirm_url}} where the link goes
    mail_text: NotRequired[str]


class SkipInput(TypedDict):
    """Which slots to leave out: named ones, or the next free ones."""

    instants: NotRequired[list[Instant] | None]
    count: NotRequired[int | None]
    reason: NotRequired[str | None]


class SkipView(TypedDict):
    """A slot that is left out."""

    at: str
    wall_time: str
    by: str
    reason: str | None


class SkippedView(TypedDict):
    """What is left out, and what made room."""

    dry_run: bool
    skips: list[SkipView]
    moved: list[MovedView]
    revision: int
    # False: one was pending already, and nothing was changed
    fresh: bool


class SlotInput(TypedDict):
    """Which post, and the slot that it shall have."""

    post_id: str
    at: Instant
    # Where it stood when you looked: it is not moved from anywhere else.
    seen_at: NotRequired[Instant | None]


class SlotTaken(TypedDict):
    """It stands there now; `was_at` is null where it is new on this account."""

    dry_run: bool
    account_id: str
    ids: list[str]
    at: str
    zone: str
    wall_time: str
    was_at: str | None
    # False: it was timed by hand
    was_slot: bool
    revision: int
    warnings: list[str]


class Start(TypedDict):
    """What becomes of what came due while everything was stopped."""

    choice: NotRequired[ResumeChoice]


class StepInput(TypedDict):
    """One step for some things: deliveries by their ids, or posts by theirs (approve, delete)."""

    step: Step
    subjects: list[str]
    # Of `it_is_there` and `send_again`: each subject's `fence` when it was looked at
    fences: NotRequired[dict[str, Any]]
    # Of `resume`: what becomes of what came due
    choice: NotRequired[ResumeChoice]


class StepResult(TypedDict):
    """What the step came to for one thing."""

    subject_id: str
    outcome: Literal["done", "refused", "elsewhere"]
    message: str | None


class StepResults(TypedDict):
    """One answer a thing."""

    dry_run: bool
    answers: list[StepResult]


class StepVariantInput(TypedDict):
    """A template, and its share of the people."""

    template_id: str
    # Left out: the newest one when it is saved
    version: NotRequired[int | None]
    share: NotRequired[int]


class StepVariantView(TypedDict):
    """A template version, and its share of the people."""

    template_version_id: str
    share: int


class Stop(TypedDict):
    """Why everything is stopped."""

    reason: str


class SuppressionCsv(TypedDict):
    """Up to 1,000 rows as CSV, newest first; `next` leads to the rest, which comes without a
    heading.
    """

    dry_run: bool
    csv: str
    rows: int
    next: str | None


class SuppressionCsvInput(TypedDict):
    """Up to 1,000 lines of CSV: value (or email), and kind, channel, reason, note where there
    are.
    """

    csv: str


class SuppressionImported(TypedDict):
    """What became of the lines."""

    dry_run: bool
    added: int
    there_already: int
    refused: list[RefusedLineView]


class SuppressionInput(TypedDict):
    """Whom not to write to any more, and why."""

    kind: SuppressionKind
    value: str
    # `all`, or one such as telegram
    channel: NotRequired[str]
    reason: NotRequired[SuppressionReason]
    note: NotRequired[str]


class SuppressionRemoval(TypedDict):
    """What to remove; without a reason, whatever the reason was."""

    kind: SuppressionKind
    value: str
    # `all`, or one such as telegram
    channel: NotRequired[str]
    reason: NotRequired[SuppressionReason | None]
    # Kept in the audit log
    why: str


class SuppressionRemoved(TypedDict):
    """How many rows were removed: one for each reason."""

    dry_run: bool
    removed: int


class SuppressionView(TypedDict):
    """Whom not to write to."""

    dry_run: bool
    kind: SuppressionKind
    # The one spelling; a handle without its @
    value: str
    channel: str
    reason: SuppressionReason
    note: str
    created_by: str
    created_at: str


class SuppressionViewPage(TypedDict):
    """SuppressionViewPage"""

    items: list[SuppressionView]
    next: str | None


class Swap(TypedDict):
    """Two change places."""

    verb: Literal["swap"]
    ids: tuple[str, str]
    revision: NotRequired[int | None]


class System(TypedDict):
    """System status."""

    version: str
    tz_version: str
    database_time: str
    clock_skew_seconds: float
    delivery_lag_seconds: float
    notices_waiting: int
    hold: HoldView | None
    workers: list[WorkerView]
    leases: list[LeasesView]
    providers: list[Rate]


class TagInput(TypedDict):
    """Tags to add to and to remove from people."""

    contact_ids: list[str]
    add: NotRequired[list[str]]
    remove: NotRequired[list[str]]


class Tagged(TypedDict):
    """How many people have other tags now."""

    dry_run: bool
    changed: int


class TargetInput(TypedDict):
    """An account, and a channel of it where not all usual ones are meant."""

    account_id: str
    channel: NotRequired[Channel | None]


class TargetView(TypedDict):
    """An account and one of its channels."""

    account_id: str
    channel: str


class TargetsInput(TypedDict):
    """Which places; left out: everywhere that it has a delivery for."""

    accounts: NotRequired[list[TargetInput] | None]


class TemplateChange(TypedDict):
    """The next version of a template."""

    body: str
    subject: NotRequired[str]
    format: NotRequired[BodyFormat]
    # Styles for pasted HTML; written into its tags
    css: NotRequired[str]
    # A mail's plain text, instead of the one made from the body
    text: NotRequired[str | None]
    media: NotRequired[list[TemplateMediaFields]]
    variants: NotRequired[dict[str, TemplateVariantFields]]
    name: NotRequired[str | None]
    # What you saw
    version: NotRequired[int | None]


class TemplateCheckInput(TypedDict):
    """What to check a template with; all of it may be left out."""

    channel: NotRequired[
        Literal[
            "email",
            "telegram",
            "linkedin_message",
            "linkedin_invitation",
            "linkedin_inmail",
            "slack",
            "discord",
            "webhook",
        ]
    ]
    version: NotRequired[int | None]
    # Whose network is asked
    account_id: NotRequired[str | None]
    # The variables that will be filled in
    known: NotRequired[list[str] | None]
    recipients: NotRequired[list[RecipientInput]]
    # Ask whether links answer
    try_links: NotRequired[bool]


class TemplateCheckView(TypedDict):
    """All there is to say of a template."""

    # Nothing keeps it from going out, to every recipient given
    ready: bool
    findings: list[TemplateFindingView]
    checked: int
    # Recipients whom a missing value would hit
    incomplete: int
    # The first of them
    listed: list[IncompleteView]
    # How many each variable hits
    by_name: dict[str, int]


class TemplateContentView(TypedDict):
    """A template's content as its author wrote it."""

    body: str
    subject: str
    format: BodyFormat
    css: str
    text: str | None
    media: list[TemplateMediaView]
    variants: dict[str, TemplateVariantView]


class TemplateDeleted(TypedDict):
    """It is gone from lists; what was planned with it is still sent."""

    dry_run: bool
    id: str


class TemplateFindingView(TypedDict):
    """Something to know before it goes out."""

    code: str
    message: str
    field: str
    blocking: bool


class TemplateInput(TypedDict):
    """A new template."""

    body: str
    subject: NotRequired[str]
    format: NotRequired[BodyFormat]
    # Styles for pasted HTML; written into its tags
    css: NotRequired[str]
    # A mail's plain text, instead of the one made from the body
    text: NotRequired[str | None]
    media: NotRequired[list[TemplateMediaFields]]
    variants: NotRequired[dict[str, TemplateVariantFields]]
    name: str


class TemplateMediaFields(TypedDict):
    """A file of the library that goes along."""

    media_id: str
    alt: NotRequired[str | None]


class TemplateMediaView(TypedDict):
    """A file that goes along."""

    media_id: str
    alt: str | None


class TemplatePreviewView(TypedDict):
    """A message as its recipient would get it, or what is missing for that."""

    channel: str
    complete: bool
    subject: str
    text: str
    html: str | None
    media: list[PreviewMediaView]
    missing: list[str]
    unfit: dict[str, str]
    variables: list[TemplateVariableView]
    removed: list[str]


class TemplateVariableView(TypedDict):
    """A variable; one that is not required has a default or stands in a condition."""

    name: str
    required: bool


class TemplateVariantFields(TypedDict):
    """What one channel gets instead; what is left out is the same as everywhere."""

    subject: NotRequired[str | None]
    text: NotRequired[str | None]
    media: NotRequired[list[TemplateMediaFields] | None]
    options: NotRequired[dict[str, Any]]


class TemplateVariantView(TypedDict):
    """What one channel gets instead."""

    subject: str | None
    text: str | None
    media: list[TemplateMediaView] | None
    options: dict[str, Any]


class TemplateVersionView(TypedDict):
    """A frozen version."""

    # Never changes; planners refer to it
    id: str
    number: int
    content: TemplateContentView
    variables: list[TemplateVariableView]
    # What was taken out of pasted HTML
    removed: list[str]
    saved_by: str
    saved_at: str


class TemplateView(TypedDict):
    """A template with its newest version."""

    dry_run: bool
    id: str
    name: str
    created_at: str
    updated_at: str
    version: TemplateVersionView


class TemplateViewPage(TypedDict):
    """TemplateViewPage"""

    items: list[TemplateView]
    next: str | None


class TestSendInput(TypedDict):
    """A test: by which account, and with which values."""

    account_id: str
    # Whose fields are variables; given values win
    contact_id: NotRequired[str | None]
    variables: NotRequired[dict[str, Any] | None]
    version: NotRequired[int | None]


class ThreadView(TypedDict):
    """A conversation with all that was written, oldest first."""

    conversation: ConversationView
    received: list[ReceivedView]
    sent: list[SentView]


class TimeInput(TypedDict):
    """An instant with an offset, or a wall time with a zone; a wall time alone names nothing."""

    accounts: NotRequired[list[TargetInput] | None]
    at: Instant
    zone: NotRequired[str | None]
    # TargetsInput it stood when you looked: it is not moved from anywhere else.
    seen_at: NotRequired[Instant | None]


class TimedView(TypedDict):
    """It goes then."""

    outcome: Literal["timed"]
    delivery_id: str
    account_id: str
    channel: str
    due_at: str
    wall_time: str
    zone: str
    note: str | None
    warnings: list[str]


class TooLateView(TypedDict):
    """Where the words of before are out or on their way."""

    id: str
    account_id: str
    channel: str
    state: DeliveryState


class TroubleView(TypedDict):
    """What the network would refuse; not blocking: it goes out, less well."""

    code: str
    message: str
    field: str
    blocking: bool


class UnapproveInput(TypedDict):
    """Why the approval goes."""

    reason: NotRequired[str | None]


class UnapprovedView(TypedDict):
    """It waits for an approval again."""

    dry_run: bool
    post: PostView
    drafts: list[str]
    too_late: list[TooLateView]


class UnchangedView(TypedDict):
    """It was too late there: it was left alone."""

    outcome: Literal["too_late"]
    delivery_id: str
    account_id: str
    channel: str
    state: DeliveryState


class UndoneView(TypedDict):
    """What stands where it stood, and what could not."""

    dry_run: bool
    restored: list[str]
    lost: list[list[Any]]


class UnsavedPreviewInput(TypedDict):
    """Content that is not saved, and values to render it with."""

    body: str
    subject: NotRequired[str]
    format: NotRequired[BodyFormat]
    # Styles for pasted HTML; written into its tags
    css: NotRequired[str]
    # A mail's plain text, instead of the one made from the body
    text: NotRequired[str | None]
    media: NotRequired[list[TemplateMediaFields]]
    variants: NotRequired[dict[str, TemplateVariantFields]]
    # Whose fields are variables; given values win
    contact_id: NotRequired[str | None]
    variables: NotRequired[dict[str, Any] | None]
    channel: NotRequired[
        Literal[
            "email",
            "telegram",
            "linkedin_message",
            "linkedin_invitation",
            "linkedin_inmail",
            "slack",
            "discord",
            "webhook",
        ]
    ]


class UnskipInput(TypedDict):
    """Which slots to offer again; left out: all."""

    instants: NotRequired[list[Instant] | None]


class VariantInput(TypedDict):
    """What is different on one channel; what is left out is as in the post."""

    text: NotRequired[str | None]
    media: NotRequired[list[MediaInput] | None]
    hashtags: NotRequired[list[str] | None]
    parts: NotRequired[list[str] | None]
    first_comment: NotRequired[str | None]
    link: NotRequired[str | None]
    options: NotRequired[dict[str, Any]]


class VariantView(TypedDict):
    """What is different on one channel; null: as in the post."""

    text: str | None
    media: list[MediaUsed] | None
    hashtags: list[str] | None
    parts: list[str] | None
    first_comment: str | None
    link: str | None
    options: dict[str, Any]


class WarmUp(TypedDict):
    """So many a day at first, `step` more after every `every` days with at least one message."""

    start: int
    step: int
    every: NotRequired[int]


class Webhook(TypedDict):
    """A program that is told."""

    id: str
    # Cut: whoever knows the whole address can write there
    url: str
    kinds: list[str]
    active: bool
    stop_reason: str | None
    created_at: str


class WebhookAgain(TypedDict):
    """It is told again."""

    dry_run: bool
    webhook: Webhook


class WebhookCreated(TypedDict):
    """The new webhook; `secret` signs what is sent, and is shown this once."""

    dry_run: bool
    secret: str
    webhook: Webhook


class WebhookDeleted(TypedDict):
    """It is told no more."""

    dry_run: bool
    id: str


class WebhookSecrets(TypedDict):
    """How many secrets sign now."""

    dry_run: bool
    id: str
    secrets: int


class WhyView(TypedDict):
    """Why a job does not run now: in one sentence, and gate by gate."""

    message: str
    next_at: str | None
    checks: list[CheckView]


class WorkerView(TypedDict):
    """A worker, as it said of itself last."""

    name: str
    queues: list[str]
    concurrency: int
    running: int
    version: str
    started_at: str
    seen_at: str
    clock_skew_seconds: float


class Workspace(TypedDict):
    """A workspace: people, accounts and content that belong together."""

    dry_run: bool
    id: str
    name: str
    zone: str
    active: bool
    # author: an editor's save approves; required: somebody has to approve
    approval: Literal["author", "required"]
    # Of the brand, on every post
    hashtags: list[str]
    # Posts a day of an account that names no number
    max_per_day: int | None
    # Messages to one recipient within the days
    recipient_cap: int | None
    recipient_cap_days: int | None
    # What mails to many show: who writes from where
    postal_address: str
    stopped_at: str | None
    stop_reason: str | None
    created_at: str
    # One's own role in it, where it is listed
    role: str | None
    # Of a change: posts that a lower maximum moves to other days
    moved: list[MovedView]


class WorkspaceChange(TypedDict):
    """What to change of a workspace."""

    name: NotRequired[str | None]
    zone: NotRequired[str | None]
    active: NotRequired[bool | None]
    approval: NotRequired[Literal["author", "required"] | None]
    hashtags: NotRequired[list[str] | None]
    max_per_day: NotRequired[int | None]
    recipient_cap: NotRequired[int | None]
    recipient_cap_days: NotRequired[int | None]
    postal_address: NotRequired[str | None]


class WorstView(TypedDict):
    """A rule, and the worst that was ever reached under it."""

    workspace_id: str
    scope: str
    action: str
    kind: str
    limit: int
    reached: float
    at: str
    broken: bool
