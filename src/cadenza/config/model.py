"""What can be set, with the defaults: one frozen value for the whole application.

Every section is a dataclass; `load.py` reads it by its fields, so a new field here is a new key in
the file and a new variable in the environment. Secrets are `Secret`s and never show themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cadenza.core.secret import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Listen:
    """Where the HTTP API and the pages are served."""

    host: str = "127.0.0.1"
    port: int = 8400
    proxies: tuple[str, ...] = ()  # whose word about a caller's address counts
    connections_per_address: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How a worker works. Times are in seconds."""

    concurrency: int = 20
    lease: float = 60.0
    poll: float = 5.0
    grace: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServer:
    """The mail server that notices leave by; without a host nobody gets mail."""

    host: str = ""
    port: int = 587
    security: str = "starttls"  # starttls, tls, none
    username: str = ""
    password: Secret | None = None
    sender: str = ""
    sender_name: str = "Cadenza"


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """Where media lie: a folder, or a bucket of an S3-like store."""

    storage: str = "disk"  # disk, s3
    folder: Path | None = None
    endpoint: str = ""
    bucket: str = ""
    region: str = ""
    access_key: str = ""
    secret_key: Secret | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbound:
    """Whom this instance may call besides public hosts on web ports: `host` or `host:port`."""

    allow: tuple[str, ...] = ()
    ca_file: str = ""
    nameserver: str = ""  # address:port that checks of a domain ask; empty: the machine's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Our registration with one network. An empty address means the network's own."""

    base_url: str = ""
    client_id: str = ""
    client_secret: Secret | None = None
    reuse_seconds: float = 4.0
    options: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that is set, and in `origins` from where; what is not in it has its default."""

    data: Path = Path("cadenza-data")
    database: str = ""  # empty: a SQLite file in the data folder
    key_file: Path | None = None  # None: beside the data
    public_url: str = ""  # empty: where it listens
    log: str = "auto"  # auto, console, json
    log_level: str = "info"
    approval: str = "off"  # of new workspaces: off, on
    copywriter: str = ""  # package.module:object; empty: the categories' copy, as a placeholder
    security_contact: str = ""  # mailto: or https:, shown in /.well-known/security.txt
    listen: Listen = field(default_factory=Listen)
    worker: Work = field(default_factory=Work)
    mail: MailServer = field(default_factory=MailServer)
    media: Media = field(default_factory=Media)
    outbound: Outbound = field(default_factory=Outbound)
    providers: Mapping[str, Network] = field(default_factory=dict[str, Network])
    origins: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)
    unread: tuple[str, ...] = field(default=(), compare=False)  # variables that mean nothing here

    @property
    def database_address(self) -> str:
        """Where the product's tables and jobs are."""
        return self.database or f"sqlite:///{self.data / 'cadenza.sqlite3'}"

    @property
    def first_approval(self) -> str:
        """How posts of a new workspace are approved, in the words of workspaces."""
        return "required" if self.approval == "on" else "author"

    @property
    def keys(self) -> Path:
        """The file with the keys that credentials are sealed with."""
        return self.key_file or self.data / "keys"

    @property
    def witness(self) -> Path:
        """The file beside the keys that knows how far the database had come. Never restore it."""
        return self.keys.with_name(self.keys.name + ".witness")

    @property
    def socket(self) -> Path:
        """Where a running server listens for the commands of this machine."""
        return self.data / "cadenza.socket"

    @property
    def media_folder(self) -> Path:
        """The folder for media, where they are kept on the disk."""
        return self.media.folder or self.data / "media"

    @property
    def home(self) -> str:
        """The address that people and networks reach this instance by, without a slash at the end."""
        everywhere = self.listen.host in ("0.0.0.0", "::")  # noqa: S104 - no address to come by
        host = "127.0.0.1" if everywhere else self.listen.host
        url = self.public_url or f"http://{host}:{self.listen.port}"
        return url.rstrip("/")


CHOICES: Mapping[str, tuple[str, ...]] = {
    "log": ("auto", "console", "json"),
    "log_level": ("debug", "info", "warning", "error"),
    "approval": ("off", "on"),
    "mail.security": ("starttls", "tls", "none"),
    "media.storage": ("disk", "s3"),
}
# What a text must look like, if it is set, and how to say so.
SHAPES: Mapping[str, tuple[str, str]] = {
    "copywriter": (r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", "the name of an object, package.module:object"),
    "security_contact": (
        r"(mailto:[^\s@]+@[^\s@]+|https://\S+)",
        "an address with mailto: or https:",
    ),
}
