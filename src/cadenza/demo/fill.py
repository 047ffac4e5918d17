"""Plays the demo's script into an empty installation: people, accounts, weeks, a past that really was sent.

The past is lived through with a clock that is set back: each post of it goes through the pipeline to a simulation
network, one is refused there and one answer gets lost. Nothing here writes states by hand.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from cadenza.accounts.connect import NewAccount, connect
from cadenza.bootstrap.model import Runtime
from cadenza.bootstrap.work import make_delivery_worker
from cadenza.core.channels import Channel
from cadenza.core.ids import name_worker
from cadenza.db.audit import record
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.run_pass import publishing_run
from cadenza.demo import script
from cadenza.demo.add_campaigns import add_campaigns
from cadenza.demo.add_contacts import add_contacts, add_replies
from cadenza.demo.add_sequence import add_sequence
from cadenza.demo.cast import Cast
from cadenza.demo.draw import draw
from cadenza.demo.script import Note
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import say
from cadenza.demo.step_clock import StepClock
from cadenza.drafts.asset_pool import save_pool
from cadenza.drafts.generate import generate
from cadenza.drafts.model import Category, drafts_locks
from cadenza.drafts.save_category import CategoryForm, save_category
from cadenza.drafts.save_rule import RuleForm, RuleSaved, create_rule
from cadenza.media.upload import Uploaded, upload
from cadenza.people.model import Role
from cadenza.people.passwords import Passwords
from cadenza.people.sign_up import LOCK, add_person
from cadenza.people.workspaces import NewWorkspace, add_member, create_workspace
from cadenza.posts.create import Created, create
from cadenza.posts.model import NewPost, PostMedia
from cadenza.posts.publish_now import publish_now
from cadenza.queues import add, model, pause, schedule
from cadenza.sql.tx import Tx
from cadenza.templates.model import BodyFormat, Template, TemplateContent, template_locks
from cadenza.templates.store import create_template

Tell = Callable[[str], None]
GAP = 10 / 1_440  # of a day: longer than the least time between two mails


@dataclass(slots=True)
class DemoState:
    """What the script's names became."""

    runtime: Runtime
    clock: StepClock
    cast: Cast
    home: str = ""
    members: dict[str, str] = field(default_factory=dict[str, str])
    accounts: dict[str, str] = field(default_factory=dict[str, str])
    pictures: dict[str, str] = field(default_factory=dict[str, str])
    categories: dict[str, str] = field(default_factory=dict[str, str])

    def by(self, name: str = "Ada") -> str:
        """Name a member as operations do."""
        return f"member:{self.members[name]}"

    def at(self, provider: str) -> tuple[str, Channel]:
        """Return an account with the channel that the cast speaks on."""
        return self.accounts[provider], self.cast.roles[provider].channel


async def fill(runtime: Runtime, cast: Cast, clock: StepClock, tell: Tell) -> DemoState:
    """Play everything, the past first."""
    played = DemoState(runtime, clock, cast)
    first = script.PAST[0][0]
    _go_back(played, first + 1)
    tell("people and accounts")
    await _invite(played)
    await connect_places(runtime, cast, played.home, played.accounts)
    await _give_weeks(played)
    await _draw(played)
    await _sort(played)
    await _write_templates(played)
    await add_contacts(runtime, played.home, played.by())
    await add_replies(runtime, played.home, played.accounts["smtp"])
    tell("a past, sent through the pipeline")
    for days, note in script.PAST:
        _go_back(played, days)
        await _publish(played, note)
    await _write_to_customers(played)
    await _go_wrong(played)
    _go_back(played, 0)
    tell("the weeks ahead")
    await _plan(played)
    await add_campaigns(runtime, played.home, played.accounts, played.by())
    return played


def _go_back(played: DemoState, days: float) -> None:
    """Live so many days ago, here and at the networks."""
    before = played.clock.now()
    played.clock.go_back(timedelta(days=days))
    played.cast.simulator.clock.advance(played.clock.now() - before)


async def _invite(played: DemoState) -> None:
    passwords = Passwords()
    hashed = {person.email: await passwords.hash(person.password) for person in script.PEOPLE}

    def operation(tx: Tx, now: datetime) -> tuple[str, dict[str, str]]:
        home, members = tx.new_id(), dict[str, str]()
        for person in script.PEOPLE:
            owner = person.role == Role.OWNER
            id_ = add_person(
                tx,
                now,
                email=person.email,
                name=person.name,
                password_hash=hashed[person.email],
                zone=person.zone,
                owner=owner,
            )
            if owner:
                new = NewWorkspace(id=home, name=script.WORKSPACE, zone=script.ZONE)
                create_workspace(tx, now, new=new, by=f"person:{id_}")
            members[person.name] = add_member(
                tx,
                now,
                workspace_id=home,
                person_id=id_,
                role=Role(person.role),
                by=f"person:{id_}",
            )
        return home, members

    played.home, played.members = await played.runtime.operations.run(operation, locks=[LOCK])


async def connect_places(runtime: Runtime, cast: Cast, home: str, accounts: dict[str, str]) -> None:
    """Connect the script's accounts, or give those that are there the tokens of this simulator."""

    def operation(tx: Tx, now: datetime) -> None:
        for place in script.PLACES:
            connected = replace(cast.roles[place.provider].connected, handle=place.handle)
            # A new simulator may give the same person another number.
            tx.run(
                """
                UPDATE account SET remote_id = :remote_id
                WHERE workspace_id = :home AND provider = :provider AND remote_id <> :remote_id
                    AND id = :id
                """,
                remote_id=connected.remote_id,
                home=home,
                provider=place.provider,
                id=accounts.get(place.provider),
            )
            made = connect(
                tx,
                now,
                workspace_id=home,
                new_id=tx.new_id(),
                provider=place.provider,
                connected=connected,
                ring=runtime.keyring,
                zone=place.zone,
            )
            accounts[place.provider] = made.id
            if isinstance(made, NewAccount):
                init_account(tx, now, workspace_id=home, account_id=made.id)
                record(
                    tx,
                    now,
                    workspace_id=home,
                    by="operator:demo",
                    action="account.connect",
                    subject_id=made.id,
                    after={"provider": place.provider, "handle": place.handle},
                )

    await runtime.operations.run(operation)


async def _give_weeks(played: DemoState) -> None:
    for place in script.PLACES:
        account = played.accounts[place.provider]
        await played.runtime.operations.run(
            lambda tx, now, account=account, place=place: schedule.write(
                tx,
                now,
                workspace_id=played.home,
                account_id=account,
                slots=place.week,
                by=played.by(),
                name=place.handle,
                zone=place.zone,
            ),
            locks=model.locks(played.home, account),
        )


async def _draw(played: DemoState) -> None:
    wanted = {note.picture for note in _all_notes() if note.picture} | set(script.POOL)
    for name in sorted(wanted):
        data = draw(name)
        answer = await upload(
            played.runtime.library.desk,
            _chunks(data),
            workspace_id=played.home,
            name=f"{name}.png",
            by=played.by(),
            alt=f"A drawn landscape: {name}",
        )
        assert isinstance(answer, Uploaded), answer
        played.pictures[name] = answer.media.id


def _all_notes() -> tuple[Note, ...]:
    return (*(note for _, note in script.PAST), *script.QUEUED, *script.WAITING)


async def _chunks(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def _sort(played: DemoState) -> None:
    async def save(form: CategoryForm) -> str:
        answer = await played.runtime.operations.run(
            lambda tx, now: save_category(tx, now, form, workspace_id=played.home, by=played.by()),
            locks=drafts_locks(played.home),
        )
        assert isinstance(answer, Category), answer
        return answer.id

    brand = await save(CategoryForm(**script.BRAND))
    for each in script.CATEGORIES:
        played.categories[each["name"]] = await save(CategoryForm(parent_id=brand, **each))


async def _write_templates(played: DemoState) -> None:
    def operation(tx: Tx, now: datetime) -> None:
        for each in script.TEMPLATES:
            content = TemplateContent(
                subject=each["subject"], body=each["body"], format=BodyFormat(each["format"])
            )
            made = create_template(
                tx, now, content, workspace_id=played.home, name=each["name"], by=played.by()
            )
            assert isinstance(made, Template), made

    await played.runtime.operations.run(operation, locks=template_locks(played.home))


async def _write(played: DemoState, note: Note, *, approve: bool = True) -> str:
    picture = played.pictures.get(note.picture or "")
    media = () if picture is None else (PostMedia(picture),)
    new = NewPost(
        workspace_id=played.home,
        text=note.text,
        media=media,
        author_id=played.members[note.author],
    )
    by = played.by(note.author)
    made = await played.runtime.operations.run(
        lambda tx, now: create(tx, now, new, by=by, approve=approve)
    )
    assert isinstance(made, Created), made
    return made.id


async def _publish(played: DemoState, note: Note) -> None:
    """Send one now, and wait until it is out."""
    post_id = await _write(played, note)
    targets = [played.at(provider) for provider in note.places]
    by = played.by(note.author)
    await played.runtime.operations.run(
        lambda tx, now: publish_now(
            tx, now, workspace_id=played.home, post_id=post_id, by=by, targets=targets
        ),
        locks=model.locks(played.home, *(account for account, _ in targets)),
    )
    sender = make_delivery_worker(played.runtime, name_worker())
    await publishing_run(sender, played.runtime.source, clock=played.clock, seconds=5.0)


async def _write_to_customers(played: DemoState) -> None:
    """Let a sequence of mails be half way through."""

    async def send(number: int) -> None:
        _go_back(played, 0.5 - number * GAP)
        sender = make_delivery_worker(played.runtime, name_worker())
        await publishing_run(sender, played.runtime.source, clock=played.clock, seconds=5.0)

    _go_back(played, 0.5)
    await add_sequence(
        played.runtime,
        home=played.home,
        by=played.by(),
        account_id=played.accounts["smtp"],
        send=send,
    )


async def _go_wrong(played: DemoState) -> None:
    """Let one network refuse, and another say nothing after it has taken the post."""
    _go_back(played, 0.3)
    words = {"error": "Validation failed: this account may not post right now"}
    mastodon, slack = played.cast.roles["mastodon"], played.cast.roles["slack"]
    mastodon.simulated.faults.plan(Kind.ERROR_BEFORE, mastodon.publishes, answer=say(422, words))
    await _publish(played, script.FAILED)
    slack.simulated.faults.plan(Kind.DROP_AFTER, slack.publishes)
    await _publish(played, script.UNCONFIRMED)
    for role in (mastodon, slack):
        role.simulated.faults.clear()


async def _plan(played: DemoState) -> None:
    for note, approve in (
        *((each, True) for each in script.QUEUED),
        *((each, False) for each in script.WAITING),
    ):
        post_id = await _write(played, note, approve=approve)
        targets = [played.at(provider) for provider in note.places]
        by = played.by(note.author)
        await played.runtime.operations.run(
            lambda tx, now, post_id=post_id, targets=targets, by=by: add.add(
                tx, now, workspace_id=played.home, post_id=post_id, by=by, targets=targets
            ),
            locks=model.locks(played.home, *(account for account, _ in targets)),
        )
    await _lay_out(played)
    provider, reason = script.PAUSED
    account = played.accounts[provider]
    await played.runtime.operations.run(
        lambda tx, now: pause.pause(
            tx, now, workspace_id=played.home, account_id=account, reason=reason, by=played.by()
        ),
        locks=model.locks(played.home, account),
    )


async def _lay_out(played: DemoState) -> None:
    """Make the rule and what it lays out: drafts that wait for a person."""
    category = played.categories[str(script.RULE["name"])]
    form = RuleForm(
        name=str(script.RULE["name"]),
        category_id=category,
        pattern=script.RULE["pattern"],
        zone=script.ZONE,
        starts=played.clock.now().date().isoformat(),
        targets=[
            (account, channel.value) for account, channel in map(played.at, script.RULE["places"])
        ],
    )
    pool = [played.pictures[name] for name in script.POOL]

    def operation(tx: Tx, now: datetime) -> None:
        save_pool(
            tx, now, workspace_id=played.home, category_id=category, media_ids=pool, by=played.by()
        )
        kept = create_rule(tx, now, form, workspace_id=played.home, by=played.by())
        assert isinstance(kept, RuleSaved), kept
        generate(tx, now, workspace_id=played.home, rule_id=kept.rule.id)

    await played.runtime.operations.run(operation, locks=drafts_locks(played.home))
