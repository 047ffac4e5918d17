"""Ada in every network at once: all worlds of a simulation with an account ready to connect in each.

For people who try the product without a network (`cadenza simulate`) and for tests that need all of
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
from cadenza.demo.dashboard import Dashboard
from cadenza.demo.networks.bluesky import SimulatedBluesky
from cadenza.demo.networks.discord import SimulatedDiscord
from cadenza.demo.networks.facebook import SimulatedFacebook
from cadenza.demo.networks.instagram import SimulatedInstagram
from cadenza.demo.networks.linkedin import SimulatedLinkedIn
from cadenza.demo.networks.mastodon import SimulatedMastodon
from cadenza.demo.networks.meta_model import LONG
from cadenza.demo.networks.slack import SimulatedSlack
from cadenza.demo.networks.smtp import SimulatedSmtp
from cadenza.demo.networks.telegram import SimulatedTelegram
from cadenza.demo.networks.threads import SimulatedThreads
from cadenza.demo.networks.unipile import SimulatedUnipile
from cadenza.demo.networks.webhook import SimulatedWebhook
from cadenza.demo.networks.x import SimulatedX
from cadenza.demo.simulator.consent import ANYWHERE
from cadenza.demo.simulator.network import SimulatedNetwork
from cadenza.demo.simulator.serve import Simulator, serve
from cadenza.providers.connect import Connected
from cadenza.providers.message import Tokens
from cadenza.providers.split_address import cut_address
from cadenza.providers.webhook.sign import address_id

APP_SECRET = "simulated-app-secret"
ADA = "ada@example.org"


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """Ada's account in one network: as the product would have it after connecting."""

    provider: str
    simulated: SimulatedNetwork
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
        mail = self.simulated.ports.get("smtp")
        return self.simulated.url() if mail is None else f"127.0.0.1:{mail}"


@dataclass(frozen=True, slots=True)
class Cast:
    """All roles of one simulator."""

    simulator: Simulator
    desk: Dashboard
    roles: Mapping[str, Role]

    @property
    def networks(self) -> dict[str, Network]:
        """The settings of each provider."""
        return {name: role.network for name, role in self.roles.items()}

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every door, as `outbound.allow` wants it."""
        simulated_networks = [role.simulated for role in self.roles.values()]
        return tuple(
            f"127.0.0.1:{port}"
            for simulated in simulated_networks
            for port in simulated.ports.values()
        )

    def endpoints(self) -> dict[str, dict[str, object]]:
        """Where each network is and what a person types to connect Ada's account, for programs."""
        return {
            name: {"url": role.address, "typed": dict(role.typed)}
            for name, role in self.roles.items()
        }

    def environment(self) -> dict[str, str]:
        """The variables that make the product speak to this simulator."""
        post = self.roles["smtp"]
        said = {
            variable("outbound.allow"): ",".join(self.hosts),
            variable("mail.host"): "127.0.0.1",
            variable("mail.port"): str(post.simulated.ports["smtp"]),
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
    simulated_networks: tuple[SimulatedNetwork, ...] = (
        SimulatedMastodon(),
        SimulatedBluesky(),
        SimulatedTelegram(),
        SimulatedX(),
        SimulatedLinkedIn(),
        SimulatedFacebook(),
        SimulatedInstagram(),
        SimulatedThreads(),
        SimulatedUnipile(),
        SimulatedSlack(),
        SimulatedDiscord(),
        SimulatedWebhook(),
        SimulatedSmtp(),
    )
    desk = Dashboard()
    simulator = await serve((desk, *simulated_networks), port, seed=seed)
    roles = [
        make(simulator, simulated)
        for make, simulated in zip(makers, simulated_networks, strict=True)
    ]
    desk.networks = {role.provider: role.simulated for role in roles}
    desk.typed = {role.provider: role.typed for role in roles}
    return Cast(simulator, desk, {role.provider: role for role in roles})


def _mastodon(_: Simulator, simulated: Any) -> Role:
    token = simulated.add_account(
        "ada", token="simulated-mastodon-token-of-ada", scopes=("read", "write")
    )
    return Role(
        provider="mastodon",
        simulated=simulated,
        channel=Channel.MASTODON,
        connected=_ada(simulated.person(token).id, token, instance=simulated.url()),
        network=Network(base_url=simulated.url()),
        publishes="POST /api/v1/statuses",
        typed={"instance": simulated.url()},
    )


def _bluesky(simulator: Simulator, simulated: Any) -> Role:
    password = "simulated-app-password"
    did = simulated.add_account("ada.example", password)
    pair = simulated.sessions.begin(did, simulator.shared.ids, simulator.clock.now())
    tokens = Tokens(
        access=Secret(pair.access), refresh=Secret(pair.refresh), expires_at=pair.access_until
    )
    return Role(
        provider="bluesky",
        simulated=simulated,
        channel=Channel.BLUESKY,
        connected=Connected(
            remote_id=did,
            handle="@ada.example",
            name="Ada",
            tokens=tokens,
            settings={"pds": simulated.url("pds")},
        ),
        network=Network(base_url=simulated.url()),
        publishes="POST /xrpc/com.atproto.repo.putRecord",
        typed={"handle": "ada.example", "password": password},
    )


def _telegram(_: Simulator, simulated: Any) -> Role:
    token = "5550001111:AA-simulated_token-of-adas-bot"
    simulated.add_bot("ada_bot", token=token)
    chat = simulated.add_chat("channel", "Ada daily", username="ada_daily")
    return Role(
        provider="telegram",
        simulated=simulated,
        channel=Channel.TELEGRAM,
        connected=_ada(f"5550001111/{chat.id}", token, chat_id=str(chat.id)),
        network=Network(base_url=simulated.url()),
        publishes="POST /bot{token}/{method}",
        typed={"token": token, "chat": "@ada_daily"},
    )


def _x(_: Simulator, simulated: Any) -> Role:
    token = simulated.add_user("ada", token="simulated-x-token-of-ada")
    app = simulated.add_app(ANYWHERE)
    return Role(
        provider="x",
        simulated=simulated,
        channel=Channel.X,
        connected=_ada(simulated.tokens[token].user, token),
        network=Network(
            base_url=simulated.url(),
            client_id=app.id,
            client_secret=Secret(app.secret),
            options={"sign_in_url": simulated.url()},
        ),
        publishes="POST /2/tweets",
    )


def _linkedin(_: Simulator, simulated: Any) -> Role:
    token = simulated.add_person("Ada", token="simulated-linkedin-token-of-ada")
    # A page's posts can be looked up; a profile's only by the network's partners.
    page = simulated.add_page("Ada & Co", token)
    app = simulated.add_app(ANYWHERE, refreshes=False)
    return Role(
        provider="linkedin",
        simulated=simulated,
        channel=Channel.LINKEDIN_ORGANIZATION,
        connected=_ada(page, token),
        network=Network(
            base_url=simulated.url(),
            client_id=app.id,
            client_secret=Secret(app.secret),
            options={"sign_in_url": simulated.url("www")},
        ),
        publishes="POST /rest/posts",
    )


def _facebook(_: Simulator, simulated: Any) -> Role:
    simulated.app_secret = APP_SECRET
    simulated.issue(
        "USER", "ada", life=LONG, scopes=simulated.grants, value="EAASimulatedUserOfAda"
    )
    page = simulated.add_page("Ada's bakery", "ada", token="EAASimulatedPageOfAda")
    simulated.tokens["EAASimulatedPageOfAda"].parent = "EAASimulatedUserOfAda"
    return Role(
        provider="facebook",
        simulated=simulated,
        channel=Channel.FACEBOOK_PAGE,
        connected=_ada(page.id, "EAASimulatedPageOfAda", user="EAASimulatedUserOfAda"),
        network=Network(
            base_url=simulated.url(),
            client_id=simulated.app_id,
            client_secret=Secret(APP_SECRET),
            options={"www": simulated.url()},
        ),
        publishes="POST /{version}/{node}",
    )


def _instagram(_: Simulator, simulated: Any) -> Role:
    simulated.app_secret = simulated.own_secret = APP_SECRET
    ada = simulated.add_account("ada", token="IGSimulatedTokenOfAda")
    return Role(
        provider="instagram",
        simulated=simulated,
        channel=Channel.INSTAGRAM_FEED,
        connected=_ada(ada.id, "IGSimulatedTokenOfAda", login="instagram"),
        network=Network(
            base_url=simulated.url(),
            client_id=simulated.own_id,
            client_secret=Secret(APP_SECRET),
            options={
                "facebook": simulated.url("facebook"),
                "api": simulated.url(),
                "www": simulated.url(),
                "login": "instagram",
            },
        ),
        publishes="POST /{version}/{account}/media_publish",
        picture="sea.jpg",
    )


def _threads(_: Simulator, simulated: Any) -> Role:
    simulated.own_secret = APP_SECRET
    ada = simulated.add_account("ada", token="THSimulatedTokenOfAda")
    return Role(
        provider="threads",
        simulated=simulated,
        channel=Channel.THREADS,
        connected=_ada(ada.id, "THSimulatedTokenOfAda"),
        network=Network(
            base_url=simulated.url(),
            client_id=simulated.own_id,
            client_secret=Secret(APP_SECRET),
            options={"www": simulated.url()},
        ),
        publishes="POST /{version}/{account}/threads_publish",
    )


def _unipile(_: Simulator, simulated: Any) -> Role:
    key = "simulated-unipile-key"
    simulated.keys.add(key)
    ada = simulated.add_account("Ada", kind="GOOGLE_OAUTH")
    return Role(
        provider="unipile",
        simulated=simulated,
        channel=Channel.EMAIL,
        connected=_ada(ada.id, key, dsn=simulated.url()),
        network=Network(base_url=simulated.url()),
        publishes="POST /api/v1/emails",
        typed={"dsn": simulated.url(), "api_key": key, "account": ada.id},
        recipient="ben@example.org",
        subject="Hello",
    )


def _slack(_: Simulator, simulated: Any) -> Role:
    hook = simulated.add_hook("#news", token="simulatedSlackHook")
    return Role(
        provider="slack",
        simulated=simulated,
        channel=Channel.SLACK,
        connected=_ada("T1/B1", hook),
        network=Network(base_url=simulated.url()),
        publishes="POST /services/{team}/{bot}/{token}",
        typed={"url": hook},
    )


def _discord(_: Simulator, simulated: Any) -> Role:
    url = simulated.add_hook("news", token="simulated-discord-hook")
    (hook,) = simulated.hooks.values()
    return Role(
        provider="discord",
        simulated=simulated,
        channel=Channel.DISCORD,
        connected=_ada(hook.id, url, guild_id=hook.guild_id),
        network=Network(base_url=simulated.url()),
        publishes="POST /api/v10/webhooks/{id}/{token}",
        typed={"url": url},
    )


def _webhook(_: Simulator, simulated: Any) -> Role:
    secret = "whsec_" + base64.b64encode(b"simulated-signing-key-of-ada-32b").decode()
    url = simulated.add_endpoint("hook-of-ada-51c9", secret)
    return Role(
        provider="webhook",
        simulated=simulated,
        channel=Channel.WEBHOOK,
        connected=Connected(
            remote_id=address_id(url),
            handle="@ada",
            name="Ada",
            tokens=Tokens(access=Secret(secret), extra={"url": Secret(url)}),
            settings={"url": cut_address(url)},
        ),
        network=Network(),
        publishes="POST /hooks/{name}",
        typed={"url": url, "secret": secret},
    )


def _smtp(_: Simulator, simulated: Any) -> Role:
    password = "simulated-mail-password"
    simulated.add_mailbox(ADA, password)
    place = {
        "host": "127.0.0.1",
        "port": simulated.ports["smtp"],
        "security": "none",
        "username": ADA,
        "from_name": "Ada",
    }
    return Role(
        provider="smtp",
        simulated=simulated,
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
