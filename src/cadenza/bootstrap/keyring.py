"""Opens the key file that the settings name; makes it where there is none."""

from cadenza.accounts.seal import Keyring, load_keyring
from cadenza.bootstrap.errors import CannotStart
from cadenza.config.model import Settings


def open_keyring(settings: Settings) -> Keyring:
    """Return the keys that seal credentials."""
    try:
        return load_keyring(settings.keys)
    except (OSError, ValueError) as error:
        raise CannotStart(f"the key file cannot be used: {error}") from error
