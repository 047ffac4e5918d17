"""What is set, from where, and what is missing for each network: for `config check`, the API and bundles.

Secrets are named, never shown. Nothing is opened or called: this reads settings alone, and imports what they
name.
"""

from dataclasses import dataclass, fields
from importlib.util import find_spec

from cadenza.bootstrap.find_copywriter import BadCopywriter, find_copywriter
from cadenza.bootstrap.outbound import policy_of
from cadenza.config.load import SECTIONS, BadSettings, variable
from cadenza.config.model import Network, Settings
from cadenza.core.secret import MARK, Secret
from cadenza.providers.http.redact import redact
from cadenza.providers.registry import all_connectors, all_providers

# Networks that send people to a page of theirs know us by an app that the owner registers there.
REGISTERED = {
    "x": "https://developer.x.com: make a project and an app with OAuth 2.0",
    "linkedin": "https://www.linkedin.com/developers: make an app with Share on LinkedIn",
    "facebook": "https://developers.facebook.com: make an app with Facebook Login",
    "instagram": "https://developers.facebook.com: make an app with Instagram",
    "threads": "https://developers.facebook.com: make an app with Threads",
    "google_mail": "https://console.cloud.google.com: make an OAuth client with Gmail's scope",
    "microsoft_mail": "https://entra.microsoft.com: register an app with SMTP.Send and IMAP",
    "telegram_person": "its api_id and api_hash, from an app that you make at https://my.telegram.org",
}


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether accounts of a network can be connected, and what to do if not."""

    provider: str
    ready: bool
    message: str


def described(settings: Settings) -> list[tuple[str, str, str]]:
    """List every key with its value, secrets as a mark, and where it was set."""
    rows = [
        (key, _shown(value), settings.origins.get(key, "default"))
        for key, value in _values(settings)
    ]
    derived = {
        "database": settings.database_address,
        "key_file": str(settings.keys),
        "public_url": settings.home,
        "media.folder": str(settings.media_folder),
    }
    return [
        (key, redact(derived[key]) if value in ("", "None") and key in derived else value, origin)
        for key, value, origin in rows
    ]


def readiness(settings: Settings) -> list[Readiness]:
    """Judge each network by what its connecting needs of the owner."""
    return [_ready(name, settings) for name in sorted(all_providers())]


def warn(settings: Settings) -> list[str]:
    """Say what is likely to be a mistake."""
    found: list[str] = []
    if settings.mail.host and not settings.mail.sender:
        found.append("mail.host is set, but mail.sender is not: say whom notices come from")
    if not settings.mail.host:
        found.append("mail.host is not set: nobody gets notices by mail")
    if settings.home.startswith("http://") and "127.0.0.1" not in settings.home:
        found.append("public_url is not https: networks refuse to send people back to it")
    if settings.media.storage == "s3" and not settings.media.bucket:
        found.append("media.storage is s3, but media.bucket is not set")
    try:
        find_copywriter(settings.copywriter)
    except BadCopywriter as error:
        found.append(str(error))
    try:
        policy_of(settings)
    except BadSettings as error:
        found += error.problems
    found += [f"{name} was not read: it is a cluster's own variable" for name in settings.unread]
    return found


def _ready(name: str, settings: Settings) -> Readiness:
    network = settings.providers.get(name, Network())
    if name in REGISTERED and not network.client_id:
        need = f"{variable(f'providers.{name}.client_id')} and {variable(f'providers.{name}.client_secret')}"
        return Readiness(name, False, f"set {need} ({REGISTERED[name]})")
    if name in REGISTERED and network.client_secret is None and name != "x":
        secret = variable(f"providers.{name}.client_secret")
        return Readiness(name, False, f"set {secret}")
    if name == "telegram_person" and not network.client_id.isdecimal():
        return Readiness(
            name, False, f"{variable(f'providers.{name}.client_id')} is no api_id: it is a number"
        )
    if name == "telegram_person" and find_spec("telethon") is None:
        return Readiness(name, False, "install the extra: pip install 'cadenza[telegram]'")
    if name not in all_connectors():
        return Readiness(name, True, "nothing to set")
    requested = ", ".join(field.label for field in all_connectors()[name].fields)
    message = (
        f"people are asked for: {requested}" if requested else "people sign in on its own page"
    )
    return Readiness(name, True, message)


def _values(settings: Settings) -> list[tuple[str, object]]:
    own = {"origins", "unread", "providers", *SECTIONS}
    rows: list[tuple[str, object]] = [
        (f.name, getattr(settings, f.name)) for f in fields(settings) if f.name not in own
    ]
    for section in SECTIONS:
        part = getattr(settings, section)
        rows += [(f"{section}.{f.name}", getattr(part, f.name)) for f in fields(part)]
    for name, network in settings.providers.items():
        rows += [
            (f"providers.{name}.{f.name}", getattr(network, f.name))
            for f in fields(network)
            if f.name != "options" and getattr(network, f.name)
        ]
        rows += [(f"providers.{name}.options.{k}", v) for k, v in network.options.items()]
    return rows


def _shown(value: object) -> str:
    if isinstance(value, Secret):
        return MARK
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return redact(str(value))
