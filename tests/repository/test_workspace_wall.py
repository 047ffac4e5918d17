"""Every statement about a table that carries workspace_id is bound to a workspace, or is excused by name.

The second wall behind the gate of the API (docs/decisions/0005): read from the SQL texts themselves, so
a new statement is held to it the moment it is written. Limit: a text is judged as a whole; two halves
that are joined while running are judged one by one.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.product_tables import product_tables
from tests.repository.sources import modules

# The job engine has tables of its own and no workspaces; sql/ knows no tables.
OTHER_ROOMS = ("engine/", "sql/")
# Who may look over the walls, and why. `module:function` or `module:CONSTANT`.
EXCUSED = {
    "accounts/seal_addresses.py:_PLAIN_ACCOUNTS": "the start seals what older versions left in plain text",
    "accounts/seal_addresses.py:_PLAIN_WEBHOOKS": "as above",
    "accounts/pending.py:expect": "sweeps what has ended, whoever began it; reads nothing",
    "accounts/refresh.py:due_accounts": "the duty renews tokens of all workspaces; nobody calls it",
    "accounts/rotate_key.py:_read": "whoever runs the application seals all secrets again",
    "accounts/rotate_key.py:rotate_batch": "by the whole primary key of what was read",
    "inbox/mailboxes.py:enqueue_due": "the job of all workspaces; nobody calls it",
    "inbox/mailbox_imports.py:forget_imports": "the job removes what is a month old",
    "inbox/polls.py:enqueue_due": "the job of all workspaces; nobody calls it",
    "inbox/sources.py:find_source": "by the id in its address; its secret decides",
    "inbox/record.py:match_again": "the job of all workspaces; nobody calls it",
    "deliveries/approve.py:sweep_unapproved": "the sweep of all workspaces; nobody calls it",
    "deliveries/recheck_fit.py:recheck_fit": "the hourly job checks all planned posts; nobody calls it",
    "api/metrics.py:_look": "numbers of the installation, for its owners alone",
    "api/metrics.py:delivery_lag": "numbers of the installation, for its owners alone",
    "api/system.py:_delivering": "numbers of the installation, for its owners alone",
    "api/system.py:look": "numbers of the installation, for its owners alone",
    "bootstrap/bundle.py:ACCOUNTS": "counts for whoever runs the application; no content",
    "bootstrap/bundle.py:STATES": "counts for whoever runs the application; no content",
    "bootstrap/promote.py:_must_be_empty": "whoever runs the application moves all of it",
    "campaigns/guard.py:resume_waiting": "the job goes on with campaigns whose wait is over",
    "campaigns/start.py:list_open": "the duty goes on with what is under way",
    "campaigns/start.py:start_due": "the duty starts what waited for its time",
    "cli/db.py:_count": "whoever runs the application counts all of it",
    "contacts/exports.py:list_expired": "the duty removes exports that have expired",
    "contacts/signup_forms.py:find_open_form": "by the id in a public address; its workspace is what is asked",
    "contacts/imports.py:list_expired": "the duty removes files that have expired",
    "db/export.py:page": "the workspace's column has a name of its own in one table; a test exports next door",
    "deliveries/claim.py:_HEADS": "the worker takes the heads of all lanes",
    "deliveries/claim.py:_HEADS_LOCKED": "the worker takes the heads of all lanes",
    "deliveries/claim.py:_IN_TURN": "the worker takes the heads of all lanes",
    "deliveries/transition.py:insert": "each new row carries its workspace",
    "deliveries/leases.py:end_all": "a restore of the whole installation",
    "deliveries/installation.py:_excuse_lateness": "a stop of the whole installation",
    "deliveries/installation.py:_last_call": "a restore of the whole installation",
    "deliveries/installation.py:_miss_overdue": "a stop of the whole installation",
    "deliveries/installation.py:_open_lanes": "a stop of the whole installation",
    "deliveries/installation.py:admit": "whether the installation has anything to send; no content",
    "deliveries/installation.py:count_maybe_sent": "a restore of the whole installation",
    "deliveries/installation.py:list_maybe_sent": "a restore of the whole installation",
    "deliveries/lanes.py:next_due": "when the worker next has something to do; no content",
    "deliveries/reconcile.py:unconfirmed_attempts": "the worker looks into the unconfirmed sends of all workspaces",
    "deliveries/rescue.py:rescue": "the worker takes over what a dead one held",
    "media/sweep.py:removable": "the duty removes files that nobody uses",
    "media/sweep.py:mark_unused": "the duty removes files that nobody uses",
    "media/sweep.py:notice_idle": "the duty removes files that nobody uses",
    "notices/claim.py:claim": "the dispatcher tells everybody",
    "people/invite.py:accept": "by the hash of a token of 256 bits; its workspace is what is asked",
    "people/profile.py:change_profile": "a person's own name, wherever they are a member",
    "posts/export_requests.py:count_rows": "as db/export.py: the workspace's column has a name of its own in one table",
    "outreach/list_ready.py:wake_snoozed": "the duty goes on with people whose time has come",
    "posts/export_requests.py:list_expired": "the duty removes exports that have expired",
    "posts/read.py:_led_by": "a source that is put into `sql`, which names the workspace",
    "posts/read.py:sql": "the source is a table of ours; it names the workspace",
    "queues/move_over_daily_max.py:overfull": "the duty moves posts out of days that are too full",
    "queues/resume.py:ended": "the duty ends pauses whose time is over",
    "queues/resolve_again.py:outdated": "the duty resolves wall times again for new zone data",
}
WORDS = "SET|WHERE|ON|JOIN|LEFT|INNER|CROSS|ORDER|GROUP|HAVING|LIMIT|USING|VALUES|RETURNING|UNION|FOR|SELECT"
NAMED = re.compile(
    rf"\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)(?:\s+(?:AS\s+)?(?!(?:{WORDS})\b|any_)(\w+))?"
)
FILLED = re.compile(r"{([\w.]+)}")  # a name that is filled in while running: any table may be meant


@dataclass(frozen=True)
class Text:
    """One SQL text, and where it stands."""

    place: str
    sql: str


@cache
def tenant_tables() -> frozenset[str]:
    """Name the tables that carry workspace_id."""
    return frozenset(
        name for name, columns in product_tables().items() if "workspace_id" in columns
    )


def strings(node: ast.AST, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield every string below a node, with the function or constant that it stands in."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            place = name
        case ast.Assign(targets=[ast.Name(id=name)]) if not place:
            place = name
        case ast.JoinedStr(values=values):
            parts = (
                f"{{{ast.unparse(each.value)}}}"
                if isinstance(each, ast.FormattedValue)
                else ast.literal_eval(each)
                for each in values
            )
            yield place, "".join(parts)
            return
        case ast.Constant(value=str(text)):
            yield place, text
            return
        case _:
            pass
    for child in ast.iter_child_nodes(node):
        yield from strings(child, place)


@cache
def texts() -> tuple[Text, ...]:
    """Read the SQL of the product's packages."""
    return tuple(
        Text(f"{module.name}:{place}", text)
        for module in modules()
        if not module.name.startswith(OTHER_ROOMS)
        for place, text in strings(module.tree)
        if re.search(r"\b(?:FROM|JOIN|INTO|UPDATE)\s", text)
    )


def loose_tables(sql: str) -> list[str]:
    """Name the tables of a text that nothing in it binds to a workspace."""
    text = FILLED.sub(lambda found: f"any_{found[1].replace('.', '_')}", sql)
    return [
        table
        for table, alias in NAMED.findall(text)
        if (table in tenant_tables() or table.startswith("any_"))
        and not _bound(text, alias or table)
    ]


def _bound(sql: str, alias: str) -> bool:
    column = rf"(?:\b{alias}\.|(?<![.:\w]))workspace_id\b"
    ways = (
        rf"{column}\s*(?:=|IN\b)",
        rf"=\s*{column}",
        rf"\({column}[^()]*\)\s*(?:=|IN\b|<|>)",
        r"\bUSING \(workspace_id\b",
        r"\bINTO \w+ \(\s*workspace_id\b",
    )
    return any(re.search(way, sql) for way in ways)


def test_every_statement_names_its_workspace_or_is_excused() -> None:
    loose = {(text.place, table) for text in texts() for table in loose_tables(text.sql)}
    assert {each for each in loose if each[0] not in EXCUSED} == set()
    assert set(EXCUSED) - {place for place, _ in loose} == set(), "nothing to excuse there any more"


def test_the_wall_sees_what_it_should() -> None:
    assert {"account", "delivery", "post", "audit", "exchange"} <= tenant_tables()
    assert len([text for text in texts() if NAMED.search(text.sql)]) > 400
    for loose in (
        "SELECT * FROM post WHERE id = :id",
        "SELECT workspace_id, id FROM post WHERE id = :id",
        "DELETE FROM api_key WHERE id = :workspace_id",
        "UPDATE account SET handle = :handle WHERE id = :id",
        "SELECT p.text FROM delivery d JOIN post p ON p.id = d.post_id WHERE d.workspace_id = :w",
        "SELECT * FROM {table} WHERE id = :id",
        "INSERT INTO post (id, text) VALUES (:id, :text)",
    ):
        assert loose_tables(loose), loose
    for held in (
        "SELECT * FROM post WHERE workspace_id = :w AND id = :id",
        "SELECT 1 FROM delivery d JOIN post p ON p.workspace_id = d.workspace_id AND p.id = d.post_id",
        "INSERT INTO post (workspace_id, id) VALUES (:w, :id)",
        "SELECT * FROM person WHERE id = :id",
        "SELECT * FROM post WHERE (workspace_id, id) IN (SELECT workspace_id, id FROM asked)",
    ):
        assert not loose_tables(held), held
