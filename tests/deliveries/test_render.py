"""What a planner stored for a recipient reaches the adapter."""

import msgspec
import pytest

from cadenza.core.channels import Channel
from cadenza.deliveries.check_fit import StoredPiece
from cadenza.deliveries.render import render


class NoFiles:
    async def read(self, name: str) -> bytes:
        raise AssertionError(name)


def test_a_recipients_fields_reach_the_adapter() -> None:
    content = {"text": "Hi", "recipient_name": "Ben", "recipient_fields": {"chat_id": "c1"}}
    text = msgspec.json.encode(content).decode()
    row = StoredPiece("ada", Channel.LINKEDIN_MESSAGE, text, "ben")
    message = render(row, NoFiles())
    assert message.recipient is not None
    assert message.recipient.name == "Ben"
    assert message.recipient.fields == {"chat_id": "c1"}


@pytest.mark.parametrize("fields", [{"chat_id": 1}, ["c1"], "c1"])
def test_fields_that_are_no_texts_are_a_problem(fields: object) -> None:
    content = msgspec.json.encode({"text": "Hi", "recipient_fields": fields}).decode()
    with pytest.raises(msgspec.ValidationError):
        render(StoredPiece("ada", Channel.EMAIL, content, "b@example.org"), NoFiles())
