"""Why a delivery waits or ended is a code with parameters; its sentence is made from one table."""

import re
import string
from datetime import datetime

import msgspec
import pytest

from cadenza.core.channels import Channel
from cadenza.db.open import migrations
from cadenza.deliveries.change import cancel
from cadenza.deliveries.permit import Permitted, Refusal
from cadenza.deliveries.reasons import Code, Reason
from cadenza.providers.outcome import Rejected
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Pipeline


@pytest.mark.parametrize("code", Code)
def test_every_code_has_a_sentence_that_its_parameters_fill(code: Code) -> None:
    names = {name for _, name, _, _ in string.Formatter().parse(code.text) if name}
    text = Reason(code, dict.fromkeys(names, "x")).text
    assert text
    assert "{" not in text


def test_what_a_network_says_is_no_template() -> None:
    assert Reason.of(Code.REJECTED, message="{who} said no").text == "{who} said no"


async def test_a_failure_keeps_its_code_and_what_the_network_said(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, Rejected("too rude", code="E42"), permit.attempt_id)
    row = await pipeline.row("delivery", id_)
    assert (row["reason"], row["reason_code"]) == ("too rude", "rejected")
    assert msgspec.json.decode(row["reason_params"]) == {
        "message": "too rude",
        "network_code": "E42",
    }
    (event,) = [each for each in await pipeline.rows("outbox") if each["subject_id"] == id_]
    assert msgspec.json.decode(event["body"])["reason_code"] == "rejected"


async def test_a_refusal_is_kept_until_the_permit_forgets_it(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    (ticket,) = await pipeline.claim()
    await pipeline.operations.run(
        lambda tx, now: tx.run(
            "UPDATE workspace SET stopped_at = :now, stop_reason = 'a fire'", now=now
        )
    )
    (answer,) = await pipeline.permit(ticket)
    assert isinstance(answer, Refusal)
    row = await pipeline.row("delivery", id_)
    assert (row["state"], row["reason_code"]) == ("scheduled", "workspace_stopped")
    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE workspace SET stopped_at = NULL, stop_reason = NULL")
    )
    await pipeline.wait_out()
    (ticket,) = await pipeline.claim()
    assert isinstance((await pipeline.permit(ticket))[0], Permitted)
    row = await pipeline.row("delivery", id_)
    assert (row["reason"], row["reason_code"], row["reason_params"]) == (None, None, None)


async def test_stored_sentences_get_the_codes_that_logic_goes_by(pipeline: Pipeline) -> None:
    known = {
        "the recipient cannot be reached any more": ("skipped", Code.RECIPIENT_LOST),
        Code.MAYBE_SENT.text: ("missed", Code.MAYBE_SENT),
        "the recipient is suppressed: bounce": ("skipped", Code.SUPPRESSED),
        "it is more than 1:00:00 late": ("missed", Code.TOO_LATE),
        "no more bread": ("canceled", Code.CANCELED),
        "moved on: it made room for late posts": ("scheduled", Code.MOVED),
    }
    ids = {text: await pipeline.post(channel=Channel.EMAIL) for text in known}
    (migration,) = [each for each in migrations() if "ADD COLUMN reason_code" in each.sql]
    (update,) = re.findall(r"UPDATE delivery SET .*?;\n", migration.sql, re.DOTALL)

    def store_as_before(tx: Tx, _now: datetime) -> None:
        for text, (state, _) in known.items():
            tx.run(
                "UPDATE delivery SET state = :state, reason = :text, reason_code = NULL WHERE id = :id",
                state=state,
                text=text,
                id=ids[text],
            )
        tx.run(update.strip().removesuffix(";"))

    await pipeline.operations.run(store_as_before)
    stored = {each["reason"]: each["reason_code"] for each in await pipeline.rows("delivery")}
    assert stored == {text: code.value for text, (_, code) in known.items()}


async def test_a_persons_words_are_a_parameter(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    await pipeline.operations.run(
        lambda tx, now: cancel(tx, now, workspace_id=HOME, id=id_, reason="the offer has ended")
    )
    row = await pipeline.row("delivery", id_)
    assert (row["reason"], row["reason_code"]) == ("the offer has ended", "canceled")
