"""Links for a new password and invitations reach one person, by mail, and nobody else."""

import re
from datetime import datetime

import pytest

from cadenza.people.change_password import ask_reset, email_row, reset_password
from cadenza.people.invite import find_invitation, invite
from cadenza.people.model import Done, Role, Wrong
from cadenza.people.sign_up import add_person
from cadenza.people.tokens import Token, draw_token, hash_token
from cadenza.sql.tx import Tx
from tests.notices.conftest import HOME, Installation

LINK = re.compile(r"https://cadenza.example/([\w-]+)#token=([\w-]+)")


async def forget(runtime: Installation, address: str, token: Token) -> object:
    def ask(tx: Tx, now: datetime) -> object:
        id_ = tx.new_id()
        sealed = runtime.ring.seal(token.text, row=email_row(id_))
        return ask_reset(
            tx,
            now,
            email=address,
            address="192.0.2.1",
            token_hash=token.hash,
            letter_id=id_,
            sealed=sealed,
        )

    return await runtime.operations.run(ask)


async def test_a_forgotten_password_is_set_again_with_the_mailed_link_once(
    runtime: Installation,
) -> None:
    await runtime.operations.run(
        lambda tx, now: add_person(
            tx, now, email="Di@example.com", name="Di", password_hash="old", zone="UTC"
        )
    )
    token = draw_token()
    assert isinstance(await forget(runtime, "di@example.com", token), Done)
    for row in await runtime.operations.read(lambda tx, _: tx.all("SELECT * FROM outbox")):
        assert token.text not in str(row)
    await runtime.dispatch()
    (mail,) = runtime.office.to("di@example.com")
    body = mail.get_body(("plain",))
    assert body is not None
    found = LINK.search(body.get_content())
    assert found is not None
    assert found.groups() == ("reset-password", token.text)
    said = [
        await runtime.operations.run(
            lambda tx, now: reset_password(
                tx, now, token_hash=hash_token(token.text), password_hash="new"
            )
        )
        for _ in range(2)
    ]
    assert isinstance(said[0], Done)
    assert isinstance(said[1], Wrong)


async def test_an_unknown_address_gets_the_same_answer_and_no_mail(runtime: Installation) -> None:
    assert isinstance(await forget(runtime, "nobody@example.com", draw_token()), Done)
    await runtime.dispatch()
    assert runtime.office.mails == []


async def ask_in(runtime: Installation, token: Token) -> object:
    def ask(tx: Tx, now: datetime) -> object:
        id_ = tx.new_id()
        return invite(
            tx,
            now,
            workspace_id=HOME,
            email="new@example.com",
            role=Role.EDITOR,
            own=Role.ADMIN,
            token_hash=token.hash,
            letter_id=id_,
            sealed=runtime.ring.seal(token.text, row=email_row(id_)),
            by="member:ada",
        )

    return await runtime.operations.run(ask)


async def test_an_invitation_is_mailed_to_the_invited_alone(runtime: Installation) -> None:
    token = draw_token()
    assert isinstance(await ask_in(runtime, token), Done)
    await runtime.dispatch()
    assert [str(mail["To"]) for mail in runtime.office.mails] == ["new@example.com"]
    open_one = await runtime.operations.read(
        lambda tx, now: find_invitation(tx, now, token_hash=token.hash)
    )
    assert open_one is not None
    notices = await runtime.operations.read(lambda tx, _: tx.all("SELECT medium FROM notice"))
    assert notices == [{"medium": "email"}], "no program is told"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ada & friends (Berlin)", "“Ada & friends (Berlin)”"),
        ("St. Mary's Bäckerei", "“St. Mary's Bäckerei”"),
        ("Win at https://evil.example/win?a=1", "“Win at https evil. example win a 1”"),
        ("evil\uff0eexample or ada@evil.example", "“evil. example or ada evil. example”"),
        ("Buy\u2028now\u202egnp\u200b.exe <b>", "“Buy now gnp exe b”"),
        ("://", "a workspace"),
    ],
)
async def test_an_invitation_carries_no_advert(
    runtime: Installation, name: str, shown: str
) -> None:
    await runtime.operations.run(
        lambda tx, _: tx.run("UPDATE workspace SET name = :n WHERE id = :id", n=name, id=HOME)
    )
    await ask_in(runtime, draw_token())
    await runtime.dispatch()
    (mail,) = runtime.office.mails
    assert str(mail["Subject"]) == f"You're invited to {shown} on Cadenza"
    for kind in ("plain", "html"):
        body = mail.get_body((kind,))
        assert body is not None
        said = body.get_content()
        assert "evil.example" not in said
        assert set(re.findall(r"\w+://[^/]+", said)) == {"https://cadenza.example"}


async def test_a_long_name_is_cut_in_an_invitation(runtime: Installation) -> None:
    await runtime.operations.run(
        lambda tx, _: tx.run(
            "UPDATE workspace SET name = :n WHERE id = :id", n="cheap watches " * 14, id=HOME
        )
    )
    await ask_in(runtime, draw_token())
    await runtime.dispatch()
    (mail,) = runtime.office.mails
    assert len(str(mail["Subject"])) < 100
