"""How an account is connected: what a person is asked for, where they are sent, what comes back.

Three shapes cover all networks: those that send the person to a page of theirs and back with a code
(`begin` returns `Redirect`, `complete` takes the code), those that take what the person typed (`begin`
returns the accounts at once), and those that ask for more on the way (`Ask`; what is typed then goes to
`complete` as the code, again and again while it asks). Where the network itself tells who signed in (`notified`),
what it posts goes to `complete` as the code. Nothing is stored here; `keep` is sealed by the caller between two
steps and bound to the person who began, together with `state`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import App, Tokens
from cadenza.providers.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Field:
    """Something a person is asked for."""

    name: str
    label: str
    secret: bool = False
    hint: str = ""
    required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Connecting:
    """One attempt to connect. `state` and `verifier` are fresh random text from the caller."""

    http: OutboundClient
    app: App  # from settings; may be empty where the network lets us register on the spot
    now: datetime
    typed: Mapping[str, str | Secret] = field(default_factory=dict[str, str | Secret])
    redirect_uri: str = ""
    return_uri: str = ""  # where the person goes on, if nothing is brought back by them
    notify_uri: str = (
        ""  # where a network may tell who signed in; whoever knows it is believed once
    )
    state: str = ""
    verifier: str = ""
    again: str | None = None  # the remote id of the account that is connected again


@dataclass(frozen=True, slots=True)
class Redirect:
    """Send the person there; keep `keep` (sealed) until they come back."""

    url: str
    keep: Mapping[str, Secret] = field(default_factory=dict[str, Secret])
    notified: bool = False  # the network tells `notify_uri`, and the person brings no code


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the person for one more thing, and call `complete` with it; keep `keep` (sealed) until then.

    Where `complete` refuses the answer, the same question is put again, a few times.
    """

    message: str
    fields: tuple[Field, ...]
    keep: Mapping[str, Secret] = field(default_factory=dict[str, Secret])


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """An account that can send. One sign-in may bring several (pages, organisations)."""

    remote_id: str
    handle: str
    name: str
    tokens: Tokens
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    kind: str = ""  # page, organisation, profile, where a network has several


class Connector(Protocol):
    """How accounts of a network are connected."""

    @property
    def fields(self) -> tuple[Field, ...]: ...

    async def begin(
        self, connecting: Connecting
    ) -> Redirect | Ask | tuple[Connected, ...] | Outcome:
        """Take what was typed: connect at once, or say where to send the person."""
        ...

    async def complete(
        self, connecting: Connecting, keep: Mapping[str, Secret], code: Secret
    ) -> Ask | tuple[Connected, ...] | Outcome:
        """Exchange the code that the person came back with."""
        ...
