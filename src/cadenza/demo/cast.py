"""Ada in every network at once: all worlds of a rehearsal with an account ready to connect in each.

For people who try the product without a network (`cadenza rehearse`) and for tests that need all of
them. The credentials are made up and worth nothing elsewhere. Time runs with the machine.
"""

# ruff: noqa: S105, S106 - these credentials are made up
import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cadenza.config.load import variable
from cadenza.config.model import Network
from cadenza.core.channels import Channel
from cadenza.core.secret import Secret
from cadenza.demo.desk import Desk
from cadenza.demo.rehearsal.consent import ANYWHERE
from cadenza.demo.rehearsal.kernel import Rehearsal, serve
from cadenza.demo.rehearsal.world import World
from cadenza.demo.rehearsal.worlds.bluesky import BlueskyWorld
from cadenza.demo.rehearsal.worlds.discord import DiscordWorld
from cadenza.demo.rehearsal.worlds.facebook import FacebookWorld
from cadenza.demo.rehearsal.worlds.instagram import InstagramWorld
from cadenza.demo.rehearsal.worlds.linkedin import LinkedInWorld
from cadenza.demo.rehearsal.worlds.mastodon import MastodonWorld
from cadenza.demo.rehearsal.worlds.meta_model import LONG
from cadenza.demo.rehearsal.worlds.slack import SlackWorld
from cadenza.demo.rehearsal.worlds.smtp import SmtpWorld
from cadenza.demo.rehearsal.worlds.telegram import TelegramWorld
from cadenza.demo.rehearsal.worlds.threads import ThreadsWorld
from cadenza.demo.rehearsal.worlds.unipile import UnipileWorld
from cadenza.demo.rehearsal.worlds.webhook import WebhookWorld
from cadenza.demo.rehearsal.worlds.x import XWorld
from cadenza.providers.connect import Connected
from cadenza.providers.message import Tokens

APP_SECRET = "rehearsal-app-secret"
ADA = "ada@example.org"


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """Ada's account in one network: as the product would have it after connecting."""

    provider: str
    world: World
    channel: Channel
    connected: Connected
    network: Network
    publishes: str  # the route of the one irreversible call
    typed: Mapping[str, str] = field(
        default_factory=dict[str, str]
    )  # what a person types to connect
    recipient: str | None = None
    subject: str = ""
    picture: str | None = None  # the name of a file that must come along

    @property
    def address(self) -> str:
        """Where its door is."""
        mail = self.world.ports.get("smtp")
        return self.world.url() if mail is None else f"127.0.0.1:{mail}"


@dataclass(frozen=True, slots=True)
class Cast:
    """All roles of one rehearsal."""

    rehearsal: Rehearsal
    desk: Desk
    roles: Mapping[str, Role]

    @property
    def networks(self) -> dict[str, Network]:
        """The settings of each provider."""
        return {name: role.network for name, role in self.roles.items()}

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every door, as `outbound.allow` wants it."""
        worlds = [role.world for role in self.roles.values()]
        return tuple(f"127.0.0.1:{port}" for world in worlds for port in world.ports.values())

    def doors(self) -> dict[str, dict[str, object]]:
        """Where each network is and what a person types to connect Ada's account, for programs."""
        return {
            name: {"url": role.address, "typed": dict(role.typed)}
            for name, role in self.roles.items()
        }

    def environment(self) -> dict[str, str]:
        """The variables that make the product speak to this rehearsal."""
        post = self.roles["smtp"]
        said = {
            variable("outbound.allow"): ",".join(self.hosts),
            variable("mail.host"): "127.0.0.1",
            variable("mail.port"): str(post.world.ports["smtp"]),
            variable("mail.security"): "none",
            variable("mail.username"): ADA,
            variable("mail.password"): post.connected.tokens.access.reveal(),
            variable("mail.sender"): ADA,
        }
        for name, network in self.networks.items():
            said[variable(f"providers.{name}.base_url")] = network.base_url
            said[variable(f"providers.{name}.client_id")] = network.client_id
            if network.client_secret is not None:
                said[variable(f"providers.{name}.client_secret")] = network.client_secret.reveal()
            for option, value in network.options.items():
                said[variable(f"providers.{name}.options.{option}")] = value
        return {name: value for name, value in said.items() if value}

    def exports(self) -> list[str]:
        """Write those variables as a shell reads them."""
        return [f"export {name}='{value}'" for name, value in self.environment().items()]


async def assemble(port: int = 0, *, seed: int | str = "cadenza") -> Cast:
    """Open every world on `port` and the ports after it, or on any where those are taken (0: any)."""
    makers = (
        _mastodon,
        _bluesky,
        _telegram,
        _x,
        _linkedin,
        _facebook,
        _instagram,
        _threads,
        _unipile,
        _slack,
        _discord,
        _webhook,
        _smtp,
    )
    worlds: tuple[World, ...] = (
        MastodonWorld(),
        BlueskyWorld(),
        TelegramWorld(),
        XWorld(),
        LinkedInWorld(),
        FacebookWorld(),
        InstagramWorld(),
        ThreadsWorld(),
        UnipileWorld(),
        SlackWorld(),
        DiscordWorld(),
        WebhookWorld(),
        SmtpWorld(),
    )
    desk = Desk()
    rehearsal = await serve((desk, *worlds), port, seed=seed)
    roles = [make(rehearsal, world) for make, world in zip(makers, worlds, strict=True)]
    desk.networks = {role.provider: role.world for role in roles}
    desk.typed = {role.provider: role.typed for role in roles}
    return Cast(rehearsal, desk, {role.provider: role for role in roles})


def _mastodon(_: Rehearsal, world: Any) -> Role:
    token = world.add_account(
        "ada", token="rehearsal-mastodon-token-of-ada", scopes=("read", "write")
    )
    return Role(
        provider="mastodon",
        world=world,
        channel=Channel.MASTODON,
        connected=_ada(world.person(token).id, token, instance=world.url()),
        network=Network(base_url=world.url()),
        publishes="POST /api/v1/statuses",
        typed={"instance": world.url()},
    )


def _bluesky(rehearsal: Rehearsal, world: Any) -> Role:
    password = "rehearsal-app-password"
    did = world.add_account("ada.example", password)
    pair = world.sessions.begin(did, rehearsal.stage.ids, rehearsal.clock.now())
    tokens = Tokens(
        access=Secret(pair.access), refresh=Secret(pair.refresh), expires_at=pair.access_until
    )
    return Role(
        provider="bluesky",
        world=world,
        channel=Channel.BLUESKY,
        connected=Connected(
            remote_id=did,
            handle="@ada.example",
            name="Ada",
            tokens=tokens,
            settings={"pds": world.url("pds")},
        ),
        network=Network(base_url=world.url()),
        publishes="POST /xrpc/com.atproto.repo.putRecord",
        typed={"handle": "ada.example", "password": password},
    )


def _telegram(_: Rehearsal, world: Any) -> Role:
    token = "5550001111:AA-rehearsal_token-of-adas-bot"
    world.add_bot("ada_bot", token=token)
    chat = world.add_chat("channel", "Ada daily", username="ada_daily")
    return Role(
        provider="telegram",
        world=world,
        channel=Channel.TELEGRAM,
        connected=_ada(f"5550001111/{chat.id}", token, chat_id=str(chat.id)),
        network=Network(base_url=world.url()),
        publishes="POST /bot{token}/{method}",
        typed={"token": token, "chat": "@ada_daily"},
    )


def _x(_: Rehearsal, world: Any) -> Role:
    token = world.add_user("ada", token="rehearsal-x-token-of-ada")
    app = world.add_app(ANYWHERE)
    return Role(
        provider="x",
        world=world,
        channel=Channel.X,
        connected=_ada(world.tokens[token].user, token),
        network=Network(
            base_url=world.url(),
            client_id=app.id,
            client_secret=Secret(app.secret),
            options={"sign_in_url": world.url()},
        ),
        publishes="POST /2/tweets",
    )


def _linkedin(_: Rehearsal, world: Any) -> Role:
    token = world.add_person("Ada", token="rehearsal-linkedin-token-of-ada")
    # A page's posts can be looked up; a profile's only by the network's partners.
    page = world.add_page("Ada & Co", token)
    app = world.add_app(ANYWHERE, refreshes=False)
    return Role(
        provider="linkedin",
        world=world,
        channel=Channel.LINKEDIN_ORGANIZATION,
        connected=_ada(page, token),
        network=Network(
            base_url=world.url(),
            client_id=app.id,
            client_secret=Secret(app.secret),
            options={"sign_in_url": world.url("www")},
        ),
        publishes="POST /rest/posts",
    )


def _facebook(_: Rehearsal, world: Any) -> Role:
    world.app_secret = APP_SECRET
    world.issue("USER", "ada", life=LONG, scopes=world.grants, value="EAArehearsalUserOfAda")
    page = world.add_page("Ada's bakery", "ada", token="EAArehearsalPageOfAda")
    world.tokens["EAArehearsalPageOfAda"].parent = "EAArehearsalUserOfAda"
    return Role(
        provider="facebook",
        world=world,
        channel=Channel.FACEBOOK_PAGE,
        connected=_ada(page.id, "EAArehearsalPageOfAda", user="EAArehearsalUserOfAda"),
        network=Network(
            base_url=world.url(),
            client_id=world.app_id,
            client_secret=Secret(APP_SECRET),
            options={"www": world.url()},
        ),
        publishes="POST /{version}/{node}",
    )


def _instagram(_: Rehearsal, world: Any) -> Role:
    world.app_secret = world.own_secret = APP_SECRET
    ada = world.add_account("ada", token="IGrehearsalTokenOfAda")
    return Role(
        provider="instagram",
        world=world,
        channel=Channel.INSTAGRAM_FEED,
        connected=_ada(ada.id, "IGrehearsalTokenOfAda", login="instagram"),
        network=Network(
            base_url=world.url(),
            client_id=world.own_id,
            client_secret=Secret(APP_SECRET),
            options={
                "facebook": world.url("facebook"),
                "api": world.url(),
                "www": world.url(),
                "login": "instagram",
            },
        ),
        publishes="POST /{version}/{account}/media_publish",
        picture="sea.jpg",
    )


def _threads(_: Rehearsal, world: Any) -> Role:
    world.own_secret = APP_SECRET
    ada = world.add_account("ada", token="THrehearsalTokenOfAda")
    return Role(
        provider="threads",
        world=world,
        channel=Channel.THREADS,
        connected=_ada(ada.id, "THrehearsalTokenOfAda"),
        network=Network(
            base_url=world.url(),
            client_id=world.own_id,
            client_secret=Secret(APP_SECRET),
            options={"www": world.url()},
        ),
        publishes="POST /{version}/{account}/threads_publish",
    )


def _unipile(_: Rehearsal, world: Any) -> Role:
    key = "rehearsal-unipile-key"
    world.keys.add(key)
    ada = world.add_account("Ada", kind="GOOGLE_OAUTH")
    return Role(
        provider="unipile",
        world=world,
        channel=Channel.EMAIL,
        connected=_ada(ada.id, key, dsn=world.url()),
        network=Network(base_url=world.url()),
        publishes="POST /api/v1/emails",
        typed={"dsn": world.url(), "api_key": key, "account": ada.id},
        recipient="ben@example.org",
        subject="Hello",
    )


def _slack(_: Rehearsal, world: Any) -> Role:
    hook = world.add_hook("#news", token="rehearsalSlackHook")
    return Role(
        provider="slack",
        world=world,
        channel=Channel.SLACK,
        connected=_ada("T1/B1", hook),
        network=Network(base_url=world.url()),
        publishes="POST /services/{team}/{bot}/{token}",
        typed={"url": hook},
    )


def _discord(_: Rehearsal, world: Any) -> Role:
    url = world.add_hook("news", token="rehearsal-discord-hook")
    (hook,) = world.hooks.values()
    return Role(
        provider="discord",
        world=world,
        channel=Channel.DISCORD,
        connected=_ada(hook.id, url, guild_id=hook.guild_id),
        network=Network(base_url=world.url()),
        publishes="POST /api/v10/webhooks/{id}/{token}",
        typed={"url": url},
    )


def _webhook(_: Rehearsal, world: Any) -> Role:
    secret = "whsec_" + base64.b64encode(b"rehearsal-signing-key-of-ada-32b").decode()
    url = world.add_endpoint("ada", secret)
    return Role(
        provider="webhook",
        world=world,
        channel=Channel.WEBHOOK,
        connected=_ada(url, secret, url=url),
        network=Network(),
        publishes="POST /hooks/{name}",
        typed={"url": url, "secret": secret},
    )


def _smtp(_: Rehearsal, world: Any) -> Role:
    password = "rehearsal-mail-password"
    world.add_mailbox(ADA, password)
    place = {
        "host": "127.0.0.1",
        "port": world.ports["smtp"],
        "security": "none",
        "username": ADA,
        "from_name": "Ada",
    }
    return Role(
        provider="smtp",
        world=world,
        channel=Channel.EMAIL,
        connected=_ada(ADA, password, **place),
        network=Network(),
        publishes="SMTP DOT",
        typed={name: str(value) for name, value in place.items()}
        | {"password": password, "from_address": ADA},
        recipient="ben@example.org",
        subject="Hello",
    )


def _ada(remote_id: str, token: str, *, user: str | None = None, **settings: object) -> Connected:
    extra = {"user": Secret(user)} if user else {}
    return Connected(
        remote_id=remote_id,
        handle="@ada",
        name="Ada",
        tokens=Tokens(access=Secret(token), extra=extra),
        settings=settings,
    )
