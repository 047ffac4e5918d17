"""What the API needs of the house it serves; `bootstrap.House` has it all, tests may have less."""

from collections.abc import Mapping
from typing import Protocol

from cadenza.accounts.seal import Keyring
from cadenza.core.clock import Clock
from cadenza.engine.client import Engine
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.message import App
from cadenza.sql.operate import Operations


class Settings(Protocol):
    """What is configured, as far as HTTP cares."""

    @property
    def public_url(self) -> str:
        """Where people reach us; empty while only this machine does."""
        ...


class House(Protocol):
    """The opened house."""

    @property
    def operations(self) -> Operations: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def keyring(self) -> Keyring: ...
    @property
    def http(self) -> OutboundClient: ...
    @property
    def engine(self) -> Engine: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def apps(self) -> Mapping[str, App]:
        """Our registration at each network, by its name."""
        ...
