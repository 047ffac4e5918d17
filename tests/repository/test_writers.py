"""Who writes which table: one package each, by the SQL in the sources.

`ELSEWHERE` lists what other packages still write. It may only get shorter: a writer that is gone must leave the
list, a new one is an error. `ONE_WRITER` are the columns of a delivery that only the transition module writes.
"""

import re
from collections import defaultdict

from tests.repository.sources import PACKAGE

WRITES = re.compile(r"\b(?:UPDATE (\w+)\s+SET|INSERT INTO (\w+)|DELETE FROM (\w+))\b")
NAMED = re.compile(r"\b(?:CREATE TABLE|RENAME TO) (\w+)")
TRANSITION = {"deliveries/transition.py", "deliveries/leases.py"}
ONE_WRITER = re.compile(
    r"\b(?:state|due_at|was_due_at|lease|leased_until|worker|reason|reason_code|sent_at|failed_at|ended_at)\s*="
)
SENTENCE = re.compile(r"\b(?:AND|OR|WHERE) \(?(?:\w+\.)?(?:\w+_)?reason (?:=|<>|LIKE|IN) ")
DELIVERY = re.compile(r"\bUPDATE delivery\s+SET(.*?)(?:\bWHERE\b|\bFROM\b|\"\"\")", re.DOTALL)
OWNERS = {
    "accounts": "account connecting",
    "campaigns": "campaign campaign_account campaign_count campaign_second campaign_skip campaign_trouble"
    " campaign_variant",
    "contacts": "audience audience_member audience_unsubscribe channel_import_undo contact contact_address contact_export contact_field"
    " contact_import contact_import_row contact_import_undo contact_mapping contact_merge contact_note contact_tag"
    " contact_value erasure_salt signup signup_form suppression",
    "db": "audit idempotency_key outbox",
    "deliveries": "account_pace activity attempt bucket budget delivery exchange installation lane limit_audited network_wait"
    " provider_rate recipient_channel recipient_failure",
    "drafts": "asset category generation media_keep rule rule_occurrence rule_target",
    "inbox": "conversation conversation_reply inbound_event inbound_poll inbound_source mailbox mailbox_import"
    " mailbox_import_row",
    "media": "media media_fit media_use",
    "notices": "notice notice_choice webhook",
    "outreach": "sequence sequence_account sequence_contact sequence_step",
    "people": "api_key api_key_day first_start invitation login_attempt member password_reset person recovery_code"
    " session workspace",
    "posts": "calendar_feed post post_import post_label post_revision workspace_export",
    "queues": "queue queue_clear queue_habit queue_skip",
    "templates": "template template_version",
}
ELSEWHERE = {
    "account": "deliveries demo notices queues",
    "installation": "bootstrap",
    "notice_choice": "people",
    "outbox": "notices",
    "post": "deliveries drafts",
    "webhook": "accounts api",
    "workspace": "queues",
}


def writers() -> dict[str, set[str]]:
    """Return the packages that write each table of the product."""
    migrations = [each.read_text() for each in (PACKAGE / "db" / "migrations").glob("*.sql")]
    tables = {name for text in migrations for name in NAMED.findall(text)}
    found: dict[str, set[str]] = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        package = path.relative_to(PACKAGE).parts[0]
        for match in WRITES.finditer(path.read_text()):
            (table,) = filter(None, match.groups())
            if (
                table in tables and package != "sql"
            ):  # whose docstring shows how to write statements
                found[table].add(package)
    return found


def test_each_table_has_one_package_that_writes_it() -> None:
    owner_of = {table: package for package, tables in OWNERS.items() for table in tables.split()}
    found = writers()
    assert set(found) - set(owner_of) == set(), "a new table needs an owner"
    others = {table: packages - {owner_of[table]} for table, packages in found.items()}
    known = {table: set(packages.split()) for table, packages in ELSEWHERE.items()}
    assert {table: packages for table, packages in others.items() if packages} == known


def test_one_module_writes_what_becomes_of_a_delivery() -> None:
    writers = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if _writes_transitions(path.read_text())
    }
    assert writers == TRANSITION


def test_one_module_tells_planners_what_became_of_deliveries() -> None:
    callers = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if "planners.count(" in path.read_text()
    }
    assert callers == {"deliveries/transition.py"}


def test_nothing_is_found_by_the_sentence_of_its_reason() -> None:
    """But suppressions, whose reasons are codes."""
    readers = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if SENTENCE.search(path.read_text())
    }
    assert {each for each in readers if not each.startswith("contacts/")} == set()


def _writes_transitions(text: str) -> bool:
    if "INSERT INTO delivery " in text or "DELETE FROM delivery " in text:
        return True
    return any(ONE_WRITER.search(found[1]) for found in DELIVERY.finditer(text))
