"""What each setting does, in a sentence: for `docs/reference/settings.md`, which is made from it.

A test holds that every setting is told here and nothing else is.
"""

from collections.abc import Mapping

SAYS: Mapping[str, str] = {
    "data": "The folder for the database, the keys and media.",
    "database": "`postgresql://USER@HOST/DATABASE`, or `sqlite:///FILE`; empty: a SQLite file in the data folder.",
    "key_file": "The file with the keys that credentials are sealed with; empty: `keys` in the data folder.",
    "public_url": "The address that people and networks reach it by; empty: where it listens.",
    "log": "How log lines look: `console`, `json`, or `auto`: console on a terminal, else json.",
    "log_level": "The least serious level that is logged: `debug`, `info`, `warning` or `error`.",
    "approval": "Whether posts of new workspaces wait for an approval: `off` or `on`.",
    "copywriter": "What writes the copy of posts that rules made, `package.module:object`; empty: their category's template. See `docs/guides/rules.md`.",
    "security_contact": "Whom to tell of a weakness, shown at `/.well-known/security.txt`; empty: nobody is named.",
    "listen.host": "The address that the web app and the API are served on.",
    "listen.port": "Its port.",
    "listen.connections_per_address": "Connections that one address may hold at a time; those of `listen.proxies` are not counted.",
    "listen.proxies": "Addresses or networks of proxies in front, whose `X-Forwarded-For` counts, a list; empty: nobody's does.",
    "worker.concurrency": "How many deliveries and jobs one worker has in hand at once.",
    "worker.lease": "After so many seconds without a sign of life another worker takes over.",
    "worker.poll": "Seconds between looks for work, where nothing wakes the worker before.",
    "worker.grace": "Seconds that a stopping worker gives to what runs.",
    "mail.host": "The mail server that notices, invitations and links for new passwords leave by; empty: none do.",
    "mail.port": "Its port.",
    "mail.security": "`starttls`, `tls` or `none`.",
    "mail.username": "Whom to sign in as; empty: without signing in.",
    "mail.password": "The password for it.",
    "mail.sender": "The address that mails come from.",
    "mail.sender_name": "The name beside it.",
    "media.storage": "Where media lie: `disk` or `s3`.",
    "media.folder": "On the disk: the folder; empty: `media` in the data folder.",
    "media.endpoint": "Of a bucket: the address of the S3-like store.",
    "media.bucket": "Of a bucket: its name.",
    "media.region": "Of a bucket: its region.",
    "media.access_key": "Of a bucket: the name of the key.",
    "media.secret_key": "Of a bucket: the key's secret.",
    "outbound.allow": "Private hosts that may be called all the same, also at addresses that people type: `host` or `host:port`, a list.",
    "outbound.ca_file": "A file of certificates to trust besides the system's.",
    "outbound.nameserver": "ADDRESS:PORT that checks of a sending domain ask; empty: the machine's name servers.",
    "providers.NETWORK.base_url": "Speak to this address instead of the network's own.",
    "providers.NETWORK.client_id": "Our app's name at the network.",
    "providers.NETWORK.client_secret": "Our app's secret there.",
    "providers.NETWORK.reuse_seconds": "How long after its last use an open connection may carry the next post or mail; 0: each gets a new one.",
    "providers.NETWORK.options.NAME": "What one network has besides; see `docs/guides/providers.md`.",
}
