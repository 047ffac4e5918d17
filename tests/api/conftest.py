"""A house with two workspaces on both databases, and people of every role who are signed in over HTTP.

Ada's workspace has a member of each role; Ben's is next door: nothing of it may be seen from Ada's.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from cadenza.api.app import create_app
from cadenza.bootstrap import Runtime, open_runtime
from cadenza.config.model import Settings
from cadenza.contacts.audiences import Audience, create_audience
from cadenza.contacts.exports import ContactExport, begin_export
from cadenza.contacts.fields import FieldSaved, save_field
from cadenza.contacts.imports import add_import
from cadenza.contacts.model import Contact, ContactForm
from cadenza.contacts.read_table import Head
from cadenza.contacts.save import create_contact
from cadenza.contacts.suppress import NewSuppression, SuppressionKind, suppress
from cadenza.core.channels import Channel
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.recipient_channels import NewChannel, save_channels
from cadenza.deliveries.schedule import schedule
from cadenza.drafts.model import Category
from cadenza.drafts.save_category import CategoryForm, save_category
from cadenza.drafts.save_rule import RuleForm, RuleSaved, create_rule
from cadenza.inbox.listeners import InboundKind
from cadenza.inbox.model import Inbound
from cadenza.inbox.record import record_inbound
from cadenza.inbox.sources import InboundSource, SourceKind, add_source
from cadenza.media.add import Store, begin, finish
from cadenza.media.model import Facts
from cadenza.outreach.enroll import enroll
from cadenza.outreach.model import Sequence, Step, StepVariant
from cadenza.outreach.store import SequenceForm, create_sequence
from cadenza.people.model import Role
from cadenza.people.sessions import SessionOrigin, open_session
from cadenza.people.sign_up import add_person
from cadenza.people.tokens import draw_token
from cadenza.people.workspaces import NewWorkspace, add_member, create_workspace
from cadenza.posts.create import Created, create
from cadenza.posts.model import NewPost
from cadenza.posts.share_calendar import Feed, make_feed
from cadenza.providers.message import MediaKind
from cadenza.sql.tx import Row, Tx
from cadenza.templates.model import Template, TemplateContent
from cadenza.templates.store import create_template

CSRF = {"x-cadenza-csrf": "1"}
PASSWORD = "violet engine under seven"
# argon2id of PASSWORD, made once: hashing takes its time by design.
HASH = "$argon2id$v=19$m=65536,t=3,p=4$SxJEwsgAwt8d2p3vngeoHw$+ko7L9ZHMWAPt5B2GJv9R3HMwE04GHxxl4i9p7BcLeI"


@dataclass
class Place:
    """The application, its application, and who can ask it."""

    runtime: Runtime
    app: FastAPI
    stop: asyncio.Event
    tokens: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    next_door: dict[str, str] = field(default_factory=dict)  # ids of Ben's things, by path names
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def client(
        self, who: str | None = None, *, address: str = "192.0.2.1", **headers: str
    ) -> httpx2.AsyncClient:
        """A browser of `who`, or of nobody."""
        cookies = {} if who is None else {"cadenza": self.tokens[who]}
        transport = httpx2.ASGITransport(app=self.app, client=(address, 1234))
        return await self.stack.enter_async_context(
            httpx2.AsyncClient(
                transport=transport,
                base_url="http://localhost",
                cookies=cookies,
                headers={**CSRF, **headers},
            )
        )

    async def row(self, sql: str, **params: Any) -> Row | None:
        return await self.runtime.operations.read(lambda tx, _: tx.one(sql, **params))

    async def rows(self, sql: str, **params: Any) -> list[Row]:
        return await self.runtime.operations.read(lambda tx, _: tx.all(sql, **params))


def furnish(tx: Tx, now: datetime, place: Place) -> None:
    """Two workspaces, a person for each role, an account and a delivery in each workspace."""
    for name in ("ada", "ben"):
        new = NewWorkspace(id=f"home-of-{name}", name=f"Home of {name}", zone="Europe/Berlin")
        create_workspace(tx, now, new=new, by="system")
    for who, home, role in (
        ("owner", "ada", Role.OWNER),
        ("admin", "ada", Role.ADMIN),
        ("editor", "ada", Role.EDITOR),
        ("viewer", "ada", Role.VIEWER),
        ("ben", "ben", Role.OWNER),
    ):
        person = add_person(
            tx,
            now,
            email=f"{who}@example.org",
            name=who.title(),
            password_hash=HASH,
            zone="UTC",
            owner=who == "owner",
        )
        member = add_member(
            tx, now, workspace_id=f"home-of-{home}", person_id=person, role=role, by="system"
        )
        token = draw_token()
        origin = SessionOrigin(address="192.0.2.1", agent="test")
        session = open_session(tx, now, person_id=person, token_hash=token.hash, origin=origin)
        place.tokens[who] = token.text
        place.ids |= {f"{who}.person": person, f"{who}.member": member, f"{who}.session": session}
    for name in ("ada", "ben"):
        add_account(tx, now, f"home-of-{name}", f"account-of-{name}")
        deliver(tx, now, f"home-of-{name}", f"account-of-{name}", f"delivery-of-{name}")
    place.next_door |= furnish_rooms(tx, now, "ben", place.ids["ben.member"])


def furnish_rooms(tx: Tx, now: datetime, name: str, member_id: str) -> dict[str, str]:
    """A post, a file, a category with a rule and a calendar address in one home; their ids by path names."""
    home, by = f"home-of-{name}", f"member:{member_id}"
    kept = save_category(
        tx, now, CategoryForm(name=f"secret plans of {home}"), workspace_id=home, by=by
    )
    assert isinstance(kept, Category)
    form = RuleForm(
        name=f"secret plans of {home}",
        category_id=kept.id,
        pattern={"kind": "daily", "times": ["09:00"]},
        zone="UTC",
        starts="2026-01-01",
        targets=[f"account-of-{name}"],
    )
    rule = create_rule(tx, now, form, workspace_id=home, by=by)
    assert isinstance(rule, RuleSaved)
    post = create(tx, now, NewPost(workspace_id=home, text=f"secret plans of {home}"), by=by)
    assert isinstance(post, Created)
    seen = {"kind": MediaKind.IMAGE, "mime": "image/png", "extension": "png", "size": 10}
    facts = Facts(**seen, sha256="a" * 64)
    begun = begin(tx, now, workspace_id=home, facts=facts, name="a.png", alt=home, by=by)
    assert isinstance(begun, Store)
    finish(tx, now, media=begun.media, by=by)
    feed = make_feed(
        tx, now, workspace_id=home, name=home, token_hash=home, member_id=member_id, by=by
    )
    assert isinstance(feed, Feed)
    words = TemplateContent(subject="Hi {{first_name}}", body=f"secret plans of {home}")
    template = create_template(tx, now, words, workspace_id=home, name=home, by=by)
    assert isinstance(template, Template)
    form_ = ContactForm(
        first_name=f"secret plans of {home}", addresses=[("email", f"{name}@example.org")]
    )
    contact = create_contact(tx, now, form_, workspace_id=home, by=by)
    assert isinstance(contact, Contact)
    audience = create_audience(tx, now, workspace_id=home, name=f"secret plans of {home}", by=by)
    assert isinstance(audience, Audience)
    field_ = save_field(
        tx, now, workspace_id=home, key=f"plans_of_{name}", label=home, kind="text", by=by
    )
    assert isinstance(field_, FieldSaved)
    head = Head(("email",), ((f"secret plans of {home}",),), ",", 6)
    import_ = add_import(
        tx,
        now,
        head,
        workspace_id=home,
        id_=tx.new_id(),
        kind="contacts",
        name=f"secret plans of {home}",
        format_="csv",
        size=10,
        by=by,
    )
    export = begin_export(tx, now, workspace_id=home, format_="csv", by=by)
    assert isinstance(export, ContactExport)
    channel = NewChannel(provider="telegram", address=f"@secret_{name}")
    save_channels(tx, now, [channel], workspace_id=home)
    stopped = NewSuppression(
        kind=SuppressionKind.ADDRESS,
        value=f"secret-{name}@example.org",
        note=f"secret plans of {home}",
    )
    suppress(tx, now, [stopped], workspace_id=home, by=by)
    form = SequenceForm(
        name=f"secret plans of {home}", steps=[_mail(template.version.id)], account_ids=[]
    )
    sequence = create_sequence(tx, now, form, workspace_id=home, by=by)
    assert isinstance(sequence, Sequence), sequence
    enroll(tx, now, workspace_id=home, sequence_id=sequence.id, contact_ids=[contact.id], by=by)
    tx.run(
        """
        INSERT INTO campaign (
            workspace_id, id, name, audience_id, template_id, template_version_id, channel, created_by, created_at,
            updated_at
        ) VALUES (:home, :id, :name, :audience_id, :template_id, :version_id, 'email', :by, :now, :now)
        """,
        home=home,
        id=f"campaign-of-{name}",
        name=f"secret plans of {home}",
        audience_id=audience.id,
        template_id=template.id,
        version_id=template.version.id,
        by=by,
        now=now,
    )
    came_in = Inbound(
        workspace_id=home,
        account_id=f"account-of-{name}",
        remote_id=f"<{name}@example.org>",
        kind=InboundKind.REPLY,
        source="imap",
        at=now,
        address=f"reply-to-{name}@example.org",
        text=f"secret plans of {home}",
    )
    record_inbound(tx, now, came_in)
    conversation = tx.value("SELECT id FROM conversation WHERE workspace_id = :home", home=home)
    source = add_source(
        tx,
        now,
        workspace_id=home,
        id_=f"source-of-{name}",
        kind=SourceKind.SIGNED,
        account_id=f"account-of-{name}",
        sealed="canary-sealed",
        by=by,
    )
    assert isinstance(source, InboundSource)
    tx.run(
        """
        INSERT INTO mailbox_import (workspace_id, id, check_only, asked_by, asked_at)
        VALUES (:home, :id, true, :by, :now)
        """,
        home=home,
        id=f"mailbox-import-of-{name}",
        by=by,
        now=now,
    )
    tx.run(
        """
        INSERT INTO mailbox_import_row (workspace_id, import_id, number, address, fields, sealed, state)
        VALUES (:home, :id, 1, :address, '{}', 'canary-sealed', 'waiting')
        """,
        home=home,
        id=f"mailbox-import-of-{name}",
        address=f"secret-{name}@example.org",
    )
    tx.run(
        """
        INSERT INTO signup_form (
            workspace_id, id, name, audience_id, account_id, texts, created_by, created_at, updated_at
        ) VALUES (:home, :id, :name, :audience_id, :account_id, '{}', :by, :now, :now)
        """,
        home=home,
        id=f"form-of-{name}",
        name=f"secret plans of {home}",
        audience_id=audience.id,
        account_id=f"account-of-{name}",
        by=by,
        now=now,
    )
    return {
        "mailbox_import_id": f"mailbox-import-of-{name}",
        "form_id": f"form-of-{name}",
        "sequence_id": sequence.id,
        "campaign_id": f"campaign-of-{name}",
        "conversation_id": conversation,
        "source_id": source.id,
        "contact_id": contact.id,
        "audience_id": audience.id,
        "other_id": audience.id,
        "field_key": field_.field.key,
        "import_id": import_.id,
        "contact_export_id": export.id,
        "category_id": kept.id,
        "rule_id": rule.rule.id,
        "post_id": post.id,
        "media_id": begun.media.id,
        "feed_id": feed.id,
        "template_id": template.id,
    }


def _mail(version_id: str) -> Step:
    variants = (StepVariant(template_version_id=version_id),)
    return Step(channel=Channel.EMAIL, variants=variants)


def add_account(tx: Tx, now: datetime, home: str, id_: str) -> None:
    tx.run(
        """
        INSERT INTO account (workspace_id, id, provider, remote_id, handle, zone, sealed, created_at)
        VALUES (:home, :id, 'mastodon', :id, '@somebody', 'Europe/Berlin', 'canary-sealed', :now)
        """,
        home=home,
        id=id_,
        now=now,
    )
    init_account(tx, now, workspace_id=home, account_id=id_)


def deliver(tx: Tx, now: datetime, home: str, account: str, id_: str, **changes: Any) -> None:
    new = NewDelivery(
        id=id_,
        workspace_id=home,
        account_id=account,
        channel=Channel.MASTODON,
        action=Action.POST,
        due_at=changes.pop("due_at", now.replace(year=now.year + 1)),
        content=json.dumps({"text": f"secret plans of {home}"}),
        **changes,
    )
    schedule(tx, now, [new])


@asynccontextmanager
async def open_place(address: str, folder: Path, **more: Any) -> AsyncGenerator[Place]:
    """Open a furnished house; `more` are settings of its own."""
    settings = Settings(data=folder, database=address, **more)
    async with AsyncExitStack() as stack:
        runtime = await stack.enter_async_context(open_runtime(settings))
        stop = asyncio.Event()
        place = Place(runtime, create_app(runtime, stop=stop), stop=stop, stack=stack)
        await runtime.operations.run(lambda tx, now: furnish(tx, now, place))
        yield place


@pytest.fixture
async def place(database: str, tmp_path: Path) -> AsyncIterator[Place]:
    async with open_place(database, tmp_path) as place:
        yield place


@pytest.fixture
async def small(sqlite_database: str, tmp_path: Path) -> AsyncIterator[Place]:
    """The same on SQLite alone, for what no database changes."""
    async with open_place(sqlite_database, tmp_path) as place:
        yield place
