"""Rows that others name without a foreign key stay, under their id (docs/decisions/0006): read from the SQL texts.

Limit: SQL that a person types is not read here.
"""

import re

import pytest

from tests.repository.test_workspace_wall import texts

STAY = "workspace|account|lane"
# Tables of where media are used; what belongs to a contact.
EXCUSED = {"contacts/store.py:_FORGET", "media/use.py:_replace"}
REMOVES = re.compile(
    rf"\bDELETE\s+FROM\s+(?:{STAY})\b|\bTRUNCATE\b|\bDELETE\s+FROM\s+\{{", re.IGNORECASE
)
RENAMES = re.compile(
    rf"\bUPDATE\s+(?:{STAY})\s+SET\s(?:(?!\bWHERE\b|\bFROM\b)[\s\S])*?(?<![\w.])(?:workspace_id|id|account_id)\s*=",
    re.IGNORECASE,
)


def test_nothing_removes_what_others_name_or_gives_it_another_id() -> None:
    found = {text.place for text in texts() if REMOVES.search(text.sql) or RENAMES.search(text.sql)}
    assert found == EXCUSED


def test_a_version_of_a_template_is_only_ever_added() -> None:
    changes = re.compile(r"\b(?:UPDATE|DELETE\s+FROM)\s+template_version\b", re.IGNORECASE)
    assert [text.place for text in texts() if changes.search(text.sql)] == []


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM account WHERE workspace_id = :workspace_id AND id = :id",
        "DELETE FROM {table} WHERE workspace_id = :workspace_id",
        "UPDATE account SET handle = :handle, id = :new WHERE workspace_id = :workspace_id",
        "UPDATE lane SET account_id = :other WHERE workspace_id = :workspace_id AND id = :id",
    ],
)
def test_the_rule_sees_what_it_should(sql: str) -> None:
    assert REMOVES.search(sql) or RENAMES.search(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM account_note WHERE workspace_id = :workspace_id",
        "UPDATE account SET remote_id = :remote WHERE workspace_id = :workspace_id AND id = :id",
        "UPDATE account SET state = 'x' FROM given WHERE account.id = given.id",
    ],
)
def test_the_rule_leaves_alone_what_it_should(sql: str) -> None:
    assert not REMOVES.search(sql)
    assert not RENAMES.search(sql)
