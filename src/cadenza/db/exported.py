"""Which tables and columns a workspace takes along, and which stay, each with its reason.

A new table or column must be placed here before the tests pass. What opens a door (sealed credentials,
hashes of tokens, addresses that are secrets themselves) and what only the running program needs stay.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from cadenza.db.export import Table
from cadenza.sql.tx import Row

_DOORS = ("secret", "token", "password", "key", "sealed", "credential", "cookie", "session")


def _account(row: Row) -> Row:
    """Keep of addresses only their host: those of webhooks are secrets themselves."""
    settings = {
        name: _harmless(value)
        for name, value in msgspec.json.decode(row["settings"], type=dict[str, Any]).items()
        if not any(door in name.lower() for door in _DOORS)
    }
    text = msgspec.json.encode(settings).decode()
    return {**row, "remote_id": _harmless(row["remote_id"]), "settings": text}


def _harmless(value: Any) -> Any:
    if isinstance(value, str) and "://" in value:
        parts = urlsplit(value)
        return f"{parts.scheme}://{parts.hostname or ''}"
    if isinstance(value, Mapping):
        return {
            name: _harmless(inner)
            for name, inner in value.items()
            if not any(door in str(name).lower() for door in _DOORS)
        }
    return [_harmless(inner) for inner in value] if isinstance(value, list) else value


WORKSPACE = Table(
    name="workspace",
    workspace="id",
    key=("id",),
    columns=(
        *("id", "name", "zone", "active", "approval", "hashtags", "max_per_day"),
        *("recipient_cap", "recipient_cap_days", "postal_address", "stopped_at", "stop_reason"),
        "created_at",
    ),
    json=("hashtags",),
    flags=("active",),
)
MEMBER = Table(
    name="member",
    key=("id",),
    columns=("id", "email", "name", "role", "created_at"),
    kept_back=("person_id",),
)
ACCOUNT = Table(
    name="account",
    key=("id",),
    columns=(
        *("id", "provider", "handle", "remote_id", "zone", "state", "state_reason"),
        *("grace_minutes", "unconfirmed_policy", "settings", "created_at"),
    ),
    kept_back=(
        *("sealed", "token_expires_at", "token_issued_at", "token_refreshed_at", "refresh_until"),
        *("refresh_lease", "refresh_after_at", "lost_at", "reminders", "blocked_at", "faults"),
        "health_since_at",
    ),
    json=("settings",),
    shape=_account,
)
POST = Table(
    name="post",
    key=("id",),
    columns=(
        *("id", "title", "source", "author_id", "category_id", "content", "content_hash"),
        *("blockers", "revision", "approved_by", "approved_at", "approved_hash"),
        *("created_at", "updated_at", "deleted_at"),
    ),
    kept_back=("search", "words", "planned"),
    json=("content", "blockers"),
)
POST_LABEL = Table(name="post_label", key=("post_id", "label"), columns=("post_id", "label"))
POST_REVISION = Table(
    name="post_revision",
    key=("post_id", "revision"),
    columns=("post_id", "revision", "content", "content_hash", "saved_by", "saved_at", "note"),
    json=("content",),
)
DELIVERY = Table(
    name="delivery",
    key=("id",),
    columns=(
        *("id", "post_id", "account_id", "channel", "action", "campaign_id", "recipient", "state"),
        *("reason", "reason_code", "reason_params"),
        *("due_at", "wall_time", "zone", "slot_at", "pinned", "not_after_at", "priority"),
        *("content", "revision", "approved", "mode", "parts_sent", "attempts", "failures"),
        "retry_limit",
        *("remote_id", "url", "created_at", "sent_at", "failed_at"),
        *("ended_at", "last_attempt_at"),
        *("sequence_id", "contact_id", "step", "template_version_id", "audience_id", "quiet"),
    ),
    kept_back=(
        *("lane_id", "prepared", "crashes", "deferrals", "lease", "leased_until", "worker"),
        *("clear_id", "was_due_at", "unready_at", "look_at", "unfit"),
    ),
    json=("content", "parts_sent", "reason_params"),
    flags=("approved",),
)
ATTEMPT = Table(
    name="attempt",
    key=("id",),
    columns=(
        *("id", "delivery_id", "number", "part", "content_hash", "began_at", "deadline_at"),
        *("outcome", "message", "remote_id", "url", "ended_at"),
    ),
    kept_back=("lease", "key", "repeated_until", "repeat_at"),
)
ACTIVITY = Table(
    name="activity",
    key=("id",),
    columns=(
        *("id", "account_id", "action", "mode", "delivery_id", "attempt_id", "campaign_id"),
        *("recipient", "state", "counts", "reserved_at", "settled_at"),
    ),
    kept_back=("lane_id",),
    flags=("counts",),
)
BUDGET = Table(
    name="budget",
    key=("scope", "action", "kind"),
    columns=("scope", "action", "kind", "amount", "per_seconds"),
)
SUPPRESSION = Table(
    name="suppression",
    key=("kind", "value", "channel", "reason"),
    columns=("kind", "value", "channel", "reason", "note", "created_by", "created_at"),
)
RECIPIENT_CHANNEL = Table(
    name="recipient_channel",
    key=("provider", "id"),
    columns=(
        *("provider", "id", "written", "title", "category", "active", "error_count", "reason"),
        *("created_at", "changed_at"),
    ),
    kept_back=("import_id",),
    flags=("active",),
)
CONTACT = Table(
    name="contact",
    key=("id",),
    columns=(
        *("id", "external_id", "first_name", "last_name", "company", "country", "zone"),
        *("zone_guessed", "language", "consent", "consent_at", "consent_proof", "source"),
        *("source_at", "source_proof", "fields", "created_at", "updated_at"),
    ),
    kept_back=(
        *("first_key", "last_key", "company_key", "import_id", "import_revision", "revision"),
    ),
    json=("fields",),
    flags=("zone_guessed",),
)
CONTACT_ADDRESS = Table(
    name="contact_address",
    key=("channel", "address"),
    columns=(
        *("channel", "address", "written", "contact_id", "position", "domain", "flag"),
        *("bounced_at", "created_at"),
    ),
    kept_back=("import_id",),
)
CONTACT_TAG = Table(name="contact_tag", key=("tag", "contact_id"), columns=("tag", "contact_id"))
CONTACT_FIELD = Table(
    name="contact_field",
    key=("key",),
    columns=("key", "label", "kind", "choices", "created_at"),
    json=("choices",),
)
CONTACT_NOTE = Table(
    name="contact_note",
    key=("id",),
    columns=("id", "contact_id", "text", "written_by", "created_at"),
)
CONTACT_MERGE = Table(
    name="contact_merge",
    key=("merged_id",),
    columns=("merged_id", "contact_id", "merged_by", "merged_at"),
)
AUDIENCE = Table(
    name="audience",
    key=("id",),
    columns=(
        *("id", "name", "public_name", "kind", "filter", "size", "created_by", "created_at"),
        "updated_at",
    ),
    kept_back=("next_position", "revision"),
    json=("filter",),
)
AUDIENCE_MEMBER = Table(
    name="audience_member",
    key=("audience_id", "position"),
    columns=("audience_id", "kind", "provider", "member_id", "position", "added_at"),
)
AUDIENCE_UNSUBSCRIBE = Table(
    name="audience_unsubscribe",
    key=("channel", "address", "audience_id"),
    columns=("channel", "address", "audience_id", "created_at"),
)
SIGNUP_FORM = Table(
    name="signup_form",
    key=("id",),
    columns=(
        *("id", "name", "audience_id", "account_id", "active", "texts", "fields", "origins"),
        *("redirect_url", "confirmed_url", "created_by", "created_at", "updated_at"),
    ),
    json=("texts", "fields", "origins"),
    flags=("active",),
    kept_back=("revision",),
)
CONVERSATION = Table(
    name="conversation",
    key=("id",),
    columns=(
        *("id", "account_id", "channel", "address", "written", "name", "chat_id", "contact_id"),
        *("subject", "state", "label", "assignee", "last_kind", "last_at", "created_at"),
    ),
    kept_back=("last_text", "revision"),
)
INBOUND_EVENT = Table(
    name="inbound_event",
    key=("id",),
    columns=(
        *("id", "account_id", "remote_id", "kind", "source", "channel", "address", "contact_id"),
        *("delivery_id", "matched_by", "conversation_id", "message_id", "subject", "text", "code"),
        *("diagnostic", "happened_at", "recorded_at"),
    ),
    kept_back=("answers_to", "trusted"),
)
CONVERSATION_REPLY = Table(
    name="conversation_reply",
    key=("conversation_id", "delivery_id"),
    columns=("conversation_id", "delivery_id", "written_by", "created_at"),
)
AUDIT = Table(
    name="audit",
    key=("id",),
    columns=("id", "actor", "action", "subject_id", "before", "after", "happened_at"),
    json=("before", "after"),
)
QUEUE = Table(
    name="queue",
    key=("account_id",),
    columns=(
        *("account_id", "name", "slots", "max_per_day", "enabled", "blackouts", "tz_version"),
        *("paused_at", "paused_by", "created_at", "changed_at"),
    ),
    kept_back=("revision", "dry_at"),
    json=("slots", "blackouts"),
    flags=("enabled",),
)
QUEUE_SKIP = Table(
    name="queue_skip",
    key=("account_id", "slot_at"),
    columns=("account_id", "slot_at", "skipped_by", "reason", "created_at"),
)
MEDIA = Table(
    name="media",
    key=("id",),
    columns=(
        *("id", "file", "kind", "mime", "size", "width", "height", "seconds", "sha256", "name"),
        *("alt", "thumbnail", "notes", "created_at", "created_by", "deleted_at"),
    ),
    kept_back=("stored_at", "idle_at", "removed_at"),
    json=("notes",),
)
MEDIA_USE = Table(name="media_use", key=("media_id", "post_id"), columns=("media_id", "post_id"))
CATEGORY = Table(
    name="category",
    key=("id",),
    columns=("id", "parent_id", "name", "hashtags", "copy", "variables", "created_at"),
    kept_back=("revision",),
    json=("hashtags", "variables"),
)
ASSET = Table(
    name="asset",
    key=("category_id", "media_id"),
    columns=("category_id", "media_id", "use_count", "last_used_at", "added_at"),
)
RULE = Table(
    name="rule",
    key=("id",),
    columns=(
        *("id", "name", "category_id", "pool_id", "needs_media", "pattern", "zone", "starts"),
        *("ends", "gap", "fold", "state", "created_by", "created_at"),
    ),
    kept_back=("revision",),
    json=("pattern",),
    flags=("needs_media",),
)
RULE_TARGET = Table(
    name="rule_target",
    key=("rule_id", "account_id", "channel"),
    columns=("rule_id", "account_id", "channel"),
)
RULE_OCCURRENCE = Table(
    name="rule_occurrence",
    key=("rule_id", "day", "slot"),
    columns=("rule_id", "day", "slot", "due_at", "post_id", "media_id", "created_at"),
    kept_back=("target_month", "pool_id", "targets", "written_revision", "placeholder"),
)
TEMPLATE = Table(
    name="template",
    key=("id",),
    columns=("id", "name", "newest", "created_at", "updated_at", "deleted_at"),
)
TEMPLATE_VERSION = Table(
    name="template_version",
    key=("id",),
    columns=(
        *("id", "template_id", "number", "content", "variables", "removed", "saved_by", "saved_at"),
    ),
    kept_back=("compiled",),
    json=("content", "variables", "removed"),
)
CAMPAIGN = Table(
    name="campaign",
    key=("id",),
    columns=(
        *(
            "id",
            "name",
            "description",
            "audience_id",
            "template_id",
            "template_version_id",
            "channel",
        ),
        *("params", "mode", "delivery_rate", "retry_limit", "skip_incomplete", "max_error_percent"),
        *("start_at", "not_after_at", "state", "reason", "reason_code", "total", "created_by"),
        *("created_at", "updated_at", "started_at", "ended_at", "deleted_at"),
        *(
            "max_bounce_percent",
            "auto_resume_at",
            "quiet_hours",
            "zone",
            "local_start",
            "begins_at",
        ),
        *(
            "purged_at",
            "test_addresses",
            "test_faults",
            "split_percent",
            "split_state",
            "winner_by",
        ),
        *("winner_after_minutes", "winner_at", "winner"),
    ),
    kept_back=("planned_to", "planned", "turn", "revision"),
    json=("params", "test_addresses", "test_faults"),
    flags=("skip_incomplete", "local_start"),
)
CAMPAIGN_VARIANT = Table(
    name="campaign_variant",
    key=("campaign_id", "position"),
    columns=(
        *("campaign_id", "position", "template_id", "template_version_id", "sent", "failed"),
        *("replies", "clicks"),
    ),
)
CAMPAIGN_ACCOUNT = Table(
    name="campaign_account",
    key=("campaign_id", "account_id"),
    columns=("campaign_id", "account_id", "position"),
)
CAMPAIGN_SKIP = Table(
    name="campaign_skip",
    key=("campaign_id", "kind", "provider", "member_id"),
    columns=(
        *("campaign_id", "kind", "provider", "member_id", "recipient", "code", "message"),
        "skipped_at",
    ),
)
SEQUENCE = Table(
    name="sequence",
    key=("id",),
    columns=(
        *("id", "name", "state", "state_reason", "assignment", "shortest_gap", "longest_gap"),
        *("even", "recipient_hours", "stop_on", "created_by", "created_at", "updated_at"),
        *("started_at", "ended_at", "account_labels"),
    ),
    kept_back=("turn", "next_position"),
    json=("stop_on", "account_labels"),
    flags=("even", "recipient_hours"),
)
SEQUENCE_STEP = Table(
    name="sequence_step",
    key=("sequence_id", "number"),
    columns=(
        *("sequence_id", "number", "channel", "wait_days", "only_if", "same_thread", "variants"),
    ),
    json=("variants",),
    flags=("same_thread",),
)
SEQUENCE_ACCOUNT = Table(
    name="sequence_account",
    key=("sequence_id", "account_id"),
    columns=("sequence_id", "account_id", "position"),
)
SEQUENCE_CONTACT = Table(
    name="sequence_contact",
    key=("sequence_id", "contact_id"),
    columns=(
        *("sequence_id", "contact_id", "state", "cause", "detail", "account_id", "next_step"),
        *("messages", "ready_at", "last_sent_at", "accepted_at", "replied_at", "bounced_at"),
        *("event_step", "added_at"),
    ),
    kept_back=(
        "position",
        "thread_id",
        "thread_subject",
    ),
    json=("messages",),
)

TABLES: tuple[Table, ...] = (
    *(WORKSPACE, MEMBER, ACCOUNT, QUEUE, QUEUE_SKIP, CATEGORY, ASSET, RULE, RULE_TARGET),
    *(RULE_OCCURRENCE, POST, POST_LABEL, POST_REVISION, DELIVERY, ATTEMPT, ACTIVITY, BUDGET),
    *(SUPPRESSION, RECIPIENT_CHANNEL, MEDIA, MEDIA_USE, AUDIT),
    *(TEMPLATE, TEMPLATE_VERSION),
    *(CONTACT, CONTACT_ADDRESS, CONTACT_TAG, CONTACT_FIELD, CONTACT_NOTE, CONTACT_MERGE),
    *(
        AUDIENCE,
        AUDIENCE_MEMBER,
        AUDIENCE_UNSUBSCRIBE,
        SIGNUP_FORM,
        CONVERSATION,
        INBOUND_EVENT,
        CONVERSATION_REPLY,
    ),
    *(CAMPAIGN, CAMPAIGN_ACCOUNT, CAMPAIGN_SKIP, CAMPAIGN_VARIANT),
    *(SEQUENCE, SEQUENCE_STEP, SEQUENCE_ACCOUNT, SEQUENCE_CONTACT),
)
READABLE: tuple[Table, ...] = (ACCOUNT, QUEUE, DELIVERY, MEDIA)  # as CSV besides

# Tables that stay, and why.
STAY: Mapping[str, str] = {
    "campaign_count": "counted again from deliveries",
    "campaign_second": "of the last minute",
    "campaign_trouble": "counted again from the next failure on",
    "account_pace": "of some minutes; won back by itself",
    "installation": "of the whole installation",
    "lane": "the pipeline's own state",
    "bucket": "counted again from activity",
    "network_wait": "over before it could be of use elsewhere",
    "recipient_failure": "a run of failures, over with the next success",
    "provider_rate": "of the whole installation",
    "outbox": "told already, or about to be",
    "notice": "told already, or about to be",
    "exchange": "evidence for some weeks; what each call came to is told by attempt",
    "notice_choice": "a person's own",
    "webhook": "its address and secret open a door",
    "person": "not the workspace's: a person is one over all of them",
    "first_start": "opens a door",
    "recovery_code": "opens a door",
    "session": "opens a door",
    "password_reset": "opens a door",
    "invitation": "opens a door",
    "api_key": "opens a door",
    "api_key_day": "counts of keys that stay",
    "login_attempt": "of the whole installation",
    "idempotency_key": "answers that programs may ask for again",
    "connecting": "opens a door",
    "calendar_feed": "opens a door",
    "media_keep": "told by asset and template_version",
    "media_fit": "made again from its source when it is needed",
    "queue_clear": "an undo of minutes",
    "queue_habit": "a person's own",
    "generation": "the generator's own state",
    "limit_audited": "found again in activity",
    "workspace_export": "exports themselves, gone after some days",
    "contact_value": "told by contact's fields; only filters need it",
    "contact_import": "imports themselves, gone after some days",
    "contact_import_row": "as above",
    "contact_import_undo": "an undo of a day",
    "channel_import_undo": "as above",
    "contact_mapping": "a habit of this installation",
    "contact_export": "exports themselves, gone after some days",
    "inbound_source": "its secret opens a door",
    "signup": "confirmed ones are contacts with their consent; others are forgotten after a week",
    "mailbox_import": "imports themselves, gone after a month",
    "mailbox_import_row": "as above",
    "inbound_poll": "how far a network was asked; an import starts over",
    "mailbox": "its password opens a door",
    "erasure_salt": "would let hashes of erased people be guessed",
    "post_import": "keys of files that were imported here",
}
