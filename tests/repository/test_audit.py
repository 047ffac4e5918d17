"""A look-up that found nothing is told apart from one that never happened."""

import json
from typing import Any

import pytest

from tests.repository.audit import judge, read_report

FINE = {"name": "h11", "version": "0.16.0", "vulns": []}
MISSED = {"name": "regex", "skip_reason": "could not be audited"}
FAULTY = {"name": "old", "version": "1.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}]}


@pytest.mark.parametrize(
    ("parts", "strict", "code", "message"),
    [
        ([FINE], True, 0, "No known fault in 1 packages."),
        ([FINE, MISSED], False, 0, "could not be asked about regex"),
        ([FINE, MISSED], True, 1, "could not be asked about regex"),
        ([FINE, FAULTY, MISSED], False, 1, "old 1.0: PYSEC-1, mended in 1.1"),
        ([], False, 0, "this says nothing"),
        ([], True, 1, "this says nothing"),
    ],
)
def test_only_a_finding_fails_unless_strict(
    parts: list[dict[str, Any]], strict: bool, code: int, message: str
) -> None:
    text = json.dumps({"dependencies": parts}) if parts else ""
    answer = judge(read_report(text), strict=strict)
    assert answer[0] == code
    assert message in answer[1]
