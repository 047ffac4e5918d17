"""Which networks are there? Every folder beside this file that says `PROVIDER` is one.

Nothing is listed by hand: adding a folder adds a network. A folder's `__init__.py` names its adapter
as `PROVIDER` and, where accounts are connected by people, its `CONNECTOR`; what a person may choose on it
stands in its `OPTIONS`; a network that is asked for what came in has a `POLLER`. Two adapters of one name are a mistake in the application and raise at once.
"""

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from cadenza import providers
from cadenza.core.channels import Channel
from cadenza.core.suggest import did_you_mean
from cadenza.providers.base import Provider
from cadenza.providers.connect import Connector
from cadenza.providers.option import Option
from cadenza.providers.poll import Poller


class UnknownProviderError(LookupError):
    """No network has that name."""


@cache
def all_providers() -> dict[str, Provider]:
    """Return the adapters by name."""
    found: dict[str, Provider] = {}
    for module in _folders():
        provider: Provider = module.PROVIDER
        if provider.name in found:
            raise ValueError(f"two provider folders are named {provider.name!r}: rename one")
        found[provider.name] = provider
    return found


@cache
def all_connectors() -> dict[str, Connector]:
    """Return how accounts are connected, by the provider's name."""
    return {m.PROVIDER.name: m.CONNECTOR for m in _folders() if hasattr(m, "CONNECTOR")}


@cache
def all_pollers() -> dict[str, Poller]:
    """Return how networks are asked for what came in, by the provider's name."""
    return {m.PROVIDER.name: m.POLLER for m in _folders() if hasattr(m, "POLLER")}


@cache
def all_options() -> dict[str, tuple[Option, ...]]:
    """Return what a person may choose, by the provider's name."""
    return {m.PROVIDER.name: getattr(m, "OPTIONS", ()) for m in _folders()}


def options_of(name: str, channel: Channel) -> tuple[Option, ...]:
    """Return what a person may choose on one channel of a network."""
    known = all_options().get(name, ())
    return tuple(each for each in known if not each.channels or channel in each.channels)


def provider(name: str) -> Provider:
    """Return the adapter of that name."""
    found = all_providers().get(name)
    if found is None:
        raise UnknownProviderError(
            f"{name!r} is not a provider.{did_you_mean(name, all_providers())}"
        )
    return found


def providers_of(channel: Channel) -> tuple[Provider, ...]:
    """Return the adapters that publish on a channel; most channels have one."""
    return tuple(each for each in all_providers().values() if channel in each.channels)


def _folders() -> list[ModuleType]:
    names = sorted(each.name for each in pkgutil.iter_modules(providers.__path__) if each.ispkg)
    modules = [importlib.import_module(f"{providers.__name__}.{name}") for name in names]
    return [module for module in modules if hasattr(module, "PROVIDER")]
