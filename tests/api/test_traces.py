"""Whatever changes something leaves a line in the audit log, with who did it; so do failed sign-ins."""

from tests.api.conftest import PASSWORD, Place, furnish_rooms
from tests.api.test_walk import LAST, UNENDING, ask, ids_of, walked
from tests.api.walk import Unknown, everything

# Counters, marks of the clock, tokens on their way, and what a request keeps for its own repetition.
UNTRACED = frozenset(
    {
        *(
            "audit",
            "login_attempt",
            "idempotency_key",
            "session",
            "connecting",
            "api_key_day",
            "installation",
        ),
    }
)


async def test_nothing_changes_without_a_line_in_the_log(small: Place) -> None:
    ids = ids_of(small, "ada") | await small.runtime.operations.run(
        lambda tx, now: furnish_rooms(tx, now, "ada", small.ids["owner.member"])
    )
    ids |= {"session_id": small.ids["ben.session"], "member_id": small.ids["viewer.member"]}
    browser = await small.client("owner")
    before = await everything(small, but=UNTRACED)
    lines, done = len(await small.rows("SELECT id FROM audit")), 0
    for step in walked(small):
        if not step.declared.writes or step.path in LAST | UNENDING:
            continue
        answer = await ask(browser, step, Unknown(ids))
        after = await everything(small, but=UNTRACED)
        count = len(await small.rows("SELECT id FROM audit"))
        sends = step.path.endswith("/publishing/run")  # what it sent is in the attempts
        if after != before and not sends:
            assert answer.status_code < 300, (step.name, "refused, and yet something changed")
            assert count > lines, (
                step.name,
                [name for name in after if after[name] != before[name]],
            )
            done += 1
        before, lines = after, count
    assert done > 25
    by = {row["actor"] for row in await small.rows("SELECT actor FROM audit")}
    assert f"member:{small.ids['owner.member']}" in by


async def test_failed_sign_ins_are_in_the_log_without_what_was_typed(small: Place) -> None:
    browser = await small.client()
    typed = {"email": "owner@example.org", "password": f"{PASSWORD}, almost"}
    assert (await browser.post("/api/v1/auth/sign-in", json=typed)).status_code == 401
    (line,) = await small.rows("SELECT * FROM audit WHERE action = 'sign_in.failed'")
    assert "almost" not in str(line)
    assert "owner@example.org" not in str(line)
