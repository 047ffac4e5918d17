"""Our registrations with the networks, from settings to what an adapter takes."""

from collections.abc import Callable

from cadenza.config.model import Settings
from cadenza.providers.message import App

NOTHING = App(base_url="")  # adapters then speak to the network's own address


def app_finder(settings: Settings) -> Callable[[str], App]:
    """Return what names an adapter's app; a network without settings gets an empty one."""
    apps = {
        name: App(
            base_url=network.base_url,
            client_id=network.client_id,
            client_secret=network.client_secret,
            options=dict(network.options),
        )
        for name, network in settings.providers.items()
    }
    return lambda name: apps.get(name, NOTHING)
