"""A mail to many shows a link to unsubscribe and a postal address, and carries the one-click headers."""

from pathlib import Path
from typing import Any

import pytest

from cadenza.accounts.seal import load_keyring
from cadenza.contacts.unsubscribe import Subscriber, read_token
from cadenza.inbox.bulk_mail import (
    BulkSender,
    bulk_values,
    check_bulk_template,
    open_bulk_sender,
)
from cadenza.people.workspaces import change_workspace
from cadenza.templates.model import BodyFormat, Template, TemplateContent
from cadenza.templates.render import RenderedMessage, render
from cadenza.templates.store import create_template
from tests.inbox.conftest import HOME, Office

STREET = "1 Main Street, London"
BODY = "Hi {{first_name}}\n\n[No more]({{unsubscribe_url}})\n\n{{postal_address}}"


async def version_of(office: Office, body: str) -> Any:
    content = TemplateContent(subject="News", body=body, format=BodyFormat.MARKDOWN)
    made = await office.operations.run(
        lambda tx, now: create_template(tx, now, content, workspace_id=HOME, name=body[:20], by="a")
    )
    assert isinstance(made, Template), made
    return made.version


async def sender_of(office: Office, folder: Path, *, url: str = "https://a.example") -> BulkSender:
    keyring = load_keyring(folder / "keys")
    return await office.operations.read(
        lambda tx, _: open_bulk_sender(tx, workspace_id=HOME, keyring=keyring, public_url=url)
    )


async def test_a_mail_to_many_has_its_link_its_address_and_its_header(
    office: Office, tmp_path: Path
) -> None:
    await office.operations.run(
        lambda tx, now: change_workspace(
            tx, now, workspace_id=HOME, changes={"postal_address": STREET}, by="member:ada"
        )
    )
    sender = await sender_of(office, tmp_path)
    version = await version_of(office, BODY)
    assert check_bulk_template(sender, version) == []
    values = bulk_values(sender, "ben@example.org")
    made = render(version, {"first_name": "Ben", **values})
    assert isinstance(made, RenderedMessage)
    url = values["unsubscribe_url"]
    assert url.startswith("https://a.example/u/")
    assert url in made.text
    assert url in (made.html or "")
    assert STREET in made.text
    token = url.rpartition("/")[2]
    assert read_token(sender.keyring, token) == Subscriber(HOME, "email", "ben@example.org")


@pytest.mark.parametrize("url", ["https://a.example", "http://a.example"])
async def test_what_is_missing_is_told_before_a_start(
    office: Office, tmp_path: Path, url: str
) -> None:
    sender = await sender_of(office, tmp_path, url=url)
    found = check_bulk_template(sender, await version_of(office, "Hi"))
    codes = {each.code for each in found}
    assert codes >= {"no_unsubscribe_link", "no_postal_address"}
    assert ("no_one_click" in codes) == (url == "http://a.example")
