from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.inbox.classify_mail import MailKind, classify_mail

SAMPLES = [
    msgspec.json.decode(line)
    # Invented ones, and what a real Postfix and a real Exim wrote.
    for name in ("inbound_mail", "postfix_mail", "exim_mail")
    for line in (Path(__file__).parent / "data" / f"{name}.jsonl").read_bytes().splitlines()
]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample['id']}-{sample['kind']}")
def test_each_sample_is_what_its_label_says(sample: dict[str, Any]) -> None:
    found = classify_mail(sample["raw"].encode())
    expected = sample["expects"]
    assert found.kind == sample["label"]
    assert found.recipient == expected["recipient"]
    assert found.code == expected["code"]
    assert (found.answers_to[:1] or (None,))[0] == expected["original_message_id"]
    if expected["hard"] is not None:
        assert (found.kind is MailKind.BOUNCE_HARD) == expected["hard"]


@given(st.binary(max_size=2_000))
def test_no_bytes_are_too_strange_to_be_classified(raw: bytes) -> None:
    assert classify_mail(raw).kind in MailKind


@given(st.sampled_from(SAMPLES), st.integers(0, 4_000))
def test_a_mail_that_is_cut_off_anywhere_is_still_classified(
    sample: dict[str, Any], at: int
) -> None:
    assert classify_mail(sample["raw"].encode()[:at]).kind in MailKind
