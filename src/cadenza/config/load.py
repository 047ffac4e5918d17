"""From a file and the environment to `Settings`: every key known by name, every value of its kind.

The environment wins over the file. A key that means nothing is refused with a guess, because a setting
with a slip in its name would else be silently the default. Messages name keys, never values of secrets.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from cadenza.config.model import (
    CHOICES,
    SHAPES,
    Listen,
    MailServer,
    Media,
    Network,
    Outbound,
    Settings,
    Work,
)
from cadenza.core.secret import Secret
from cadenza.core.suggest import did_you_mean

FILE = "cadenza.toml"
PREFIX = "CADENZA_"
SECTIONS: Mapping[str, type] = {
    "listen": Listen,
    "worker": Work,
    "mail": MailServer,
    "media": Media,
    "outbound": Outbound,
}
OURS = {*SECTIONS, "providers", "origins", "unread"}
# Read by others: the command line, tests, the place of the file itself.
NEIGHBOURS = frozenset(
    {
        "CADENZA_AS",
        "CADENZA_CONFIG",
        "CADENZA_KEY",
        "CADENZA_SERVER",
        "CADENZA_STORE",
        "CADENZA_WORKSPACE",
    }
)
# Kubernetes writes these into every container beside a service that is called cadenza.
_CLUSTER = re.compile(r"CADENZA_(\w+_)?(SERVICE_HOST|SERVICE_PORT\w*|PORT(_\d+_(TCP|UDP)\w*)?)")
_YES, _NO = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})


class BadSettings(Exception):
    """Something is set that cannot be; each line says what, where, and what to do."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(self.problems))


def load(
    path: Path | None = None,
    *,
    environ: Mapping[str, str],
    here: Path | None = None,
    providers: Iterable[str] | None = None,
) -> Settings:
    """Read `path` (or `cadenza.toml` here, if there is one), then the environment over it.

    `providers` are the names of the networks that there are; without them any name is taken.
    """
    found = _find(path, environ, here or Path())
    reading = _Reading(None if providers is None else frozenset(providers))
    if found is not None:
        reading.take_file(found)
    reading.take_environment(environ)
    if reading.problems:
        raise BadSettings(reading.problems)
    return reading.settings()


def variable(key: str) -> str:
    """Name the environment variable of a key like `mail.host`."""
    return PREFIX + key.upper().replace(".", "_")


def _find(path: Path | None, environ: Mapping[str, str], here: Path) -> Path | None:
    requested = path or (Path(environ["CADENZA_CONFIG"]) if environ.get("CADENZA_CONFIG") else None)
    if requested is not None:
        if not requested.is_file():
            raise BadSettings([f"there is no settings file {requested}: make it, or name another"])
        return requested
    usual = here / FILE
    return usual if usual.is_file() else None


class _Reading:
    """Gathers values by key, with where they came from, and every problem on the way."""

    def __init__(self, providers: frozenset[str] | None) -> None:
        self.problems: list[str] = []
        self._providers = providers
        self._values: dict[str, Any] = {}
        self._origins: dict[str, str] = {}
        self._unread: list[str] = []
        self._kinds = _kinds()

    def take_file(self, path: Path) -> None:
        """Read a TOML file."""
        try:
            tree = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BadSettings([f"{path} is no TOML: {error}"]) from None
        for key, value in _flatten(tree):
            kind = self._kind(key)
            if kind is None:
                self.problems.append(f"{path}: there is no setting {key!r}.{self._guess(key)}")
            else:
                self._take(key, value, kind, str(path))

    def take_environment(self, environ: Mapping[str, str]) -> None:
        """Read the variables that begin with our prefix."""
        known = {variable(key): key for key in self._kinds}
        for name in sorted(environ):
            if not name.startswith(PREFIX) or name in NEIGHBOURS or name.startswith("CADENZA_TEST"):
                continue
            key = known.get(name) or self._provider_key(name)
            if key is not None and (kind := self._kind(key)) is not None:
                self._take(key, environ[name], kind, f"environment {name}")
            elif _CLUSTER.fullmatch(name):
                self._unread.append(name)
            else:
                guess = did_you_mean(name, known)
                self.problems.append(f"environment: {name} sets nothing.{guess}")

    def settings(self) -> Settings:
        """Put the values together."""
        parts: dict[str, Any] = {
            name: kind(**self._under(f"{name}.")) for name, kind in SECTIONS.items()
        }
        names = sorted({key.split(".")[1] for key in self._values if key.startswith("providers.")})
        networks = {name: Network(**self._network(name)) for name in names}
        own = {key: value for key, value in self._values.items() if "." not in key}
        return Settings(
            **own,
            **parts,
            providers=networks,
            origins=dict(self._origins),
            unread=tuple(self._unread),
        )

    def _network(self, name: str) -> dict[str, Any]:
        said = self._under(f"providers.{name}.")
        options = {k.removeprefix("options."): v for k, v in said.items() if "." in k}
        return {k: v for k, v in said.items() if "." not in k} | {"options": options}

    def _under(self, prefix: str) -> dict[str, Any]:
        return {k.removeprefix(prefix): v for k, v in self._values.items() if k.startswith(prefix)}

    def _take(self, key: str, value: object, kind: Any, origin: str) -> None:
        try:
            taken = _convert(value, kind)
        except (TypeError, ValueError) as error:
            self.problems.append(f"{origin}: {key} must be {error}")
            return
        allowed = CHOICES.get(key)
        if allowed is not None and taken not in allowed:
            self.problems.append(
                f"{origin}: {key} must be one of {', '.join(allowed)}."
                + did_you_mean(str(taken), allowed)
            )
            return
        shape, means = SHAPES.get(key, ("", ""))
        if shape and taken and not re.fullmatch(shape, str(taken)):
            self.problems.append(f"{origin}: {key} must be {means}")
            return
        self._values[key] = taken
        self._origins[key] = origin

    def _kind(self, key: str) -> Any:
        parts = key.split(".")
        if parts[0] != "providers":
            return self._kinds.get(key)
        if len(parts) < 3 or (self._providers is not None and parts[1] not in self._providers):
            return None
        if parts[2] == "options" and len(parts) == 4:
            return str
        return _NETWORK.get(parts[2]) if len(parts) == 3 and parts[2] != "options" else None

    def _provider_key(self, name: str) -> str | None:
        """Read `CADENZA_PROVIDERS_X_CLIENT_ID`; a network's name may have underscores of its own."""
        own = "|".join(key.upper() for key in _NETWORK if key != "options")
        found = re.fullmatch(rf"{PREFIX}PROVIDERS_(\w+?)_(OPTIONS_(\w+)|{own})", name)
        if found is None:
            return None
        key = f"options.{found[3]}" if found[3] else found[2]
        return f"providers.{found[1]}.{key}".lower()

    def _guess(self, key: str) -> str:
        parts = key.split(".")
        if parts[0] == "providers" and len(parts) >= 2 and self._providers is not None:
            if parts[1] not in self._providers:
                return did_you_mean(parts[1], self._providers)
            return did_you_mean(key, [f"providers.{parts[1]}.{name}" for name in _NETWORK])
        return did_you_mean(key, [*self._kinds, "providers"])


def _kinds() -> dict[str, Any]:
    hints = get_type_hints(Settings)
    kinds = {f.name: hints[f.name] for f in fields(Settings) if f.name not in OURS}
    for section, kind in SECTIONS.items():
        kinds |= {f"{section}.{name}": hint for name, hint in get_type_hints(kind).items()}
    return kinds


_NETWORK: Mapping[str, Any] = get_type_hints(Network)


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, object]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _convert(value: object, kind: Any) -> object:
    """Turn a value of TOML, or the text of a variable, into what the field takes."""
    if isinstance(kind, UnionType):
        (kind,) = [each for each in get_args(kind) if each is not type(None)]
    if get_origin(kind) is tuple:
        return _words(value)
    return _READERS[kind](value)


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(",") if word.strip())
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return tuple(value)
    raise TypeError("a list of words")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text, in quotes")
    return value


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError("a whole number")
    try:
        return int(value)
    except ValueError:
        raise ValueError("a whole number") from None


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError("a number of seconds")
    try:
        seconds = float(value)
    except ValueError:
        raise ValueError("a number of seconds") from None
    if not 0 < seconds < 86_400:
        raise ValueError("a number of seconds above 0 and below a day")
    return seconds


def _flag(value: object) -> bool:
    word = str(value).casefold()
    if word not in _YES | _NO:
        raise ValueError("true or false")
    return word in _YES


_READERS: Mapping[Any, Callable[[object], object]] = {
    str: _text,
    int: _number,
    float: _seconds,
    bool: _flag,
    Path: lambda value: Path(_text(value)).expanduser(),
    Secret: lambda value: Secret(_text(value)),
}
