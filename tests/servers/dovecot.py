"""A private Dovecot: its own configuration, mailboxes and log in a temporary folder, on ports of loopback.

The programs must be on the machine (Debian: `apt install dovecot-imapd`); no wheel has them. Its master is started by
root; the system's own instance is neither read nor touched. Every process of it ends with the context.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.servers import place
from tests.servers.place import ServerUnavailableError

START_SECONDS = 20
PASSWORD = 'a pass\\word of "Ada"'
_CONFIGURATION = """
protocols = imap
listen = 127.0.0.1
base_dir = {folder}/run
state_dir = {folder}/run
log_path = {folder}/log
mail_location = maildir:{folder}/mail/%u
ssl = yes
ssl_cert = <{certificate}
ssl_key = <{certificate}
auth_mechanisms = plain login
disable_plaintext_auth = no
first_valid_uid = 1
default_internal_user = {user}
default_login_user = {user}
default_internal_group = {group}
passdb {{
  driver = passwd-file
  args = scheme=plain username_format=%u {folder}/users
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={folder}/home/%u
}}
service anvil {{
  chroot =
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = {secure_port}
    ssl = yes
  }}
}}
service stats {{
  chroot =
}}
namespace inbox {{
  inbox = yes
  mailbox Junk {{
    auto = create
    special_use = \\Junk
  }}
}}
"""
_TOKENS = """
auth_mechanisms = plain login xoauth2 oauthbearer
passdb {{
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = {file}
}}
service auth {{
  unix_listener {socket} {{
    mode = 0666
  }}
}}
"""
_INTROSPECTION = """
introspection_mode = auth
introspection_url = {url}
username_attribute = email
active_attribute = active
active_value = true
"""


@dataclass(frozen=True, slots=True)
class Dovecot:
    """A running Dovecot."""

    port: int
    secure_port: int
    folder: Path
    uid: int
    gid: int

    @property
    def sasl(self) -> Path:
        """Where Postfix asks whether a client may sign in."""
        return self.folder / "sasl"

    def put(self, raw: bytes, *, who: str = "ada", junk: bool = False) -> Path:
        """Let a mail arrive."""
        box = self.folder / "mail" / who / (".Junk" if junk else "")
        for name in ("tmp", "new", "cur"):
            (box / name).mkdir(parents=True, exist_ok=True)
        for each in (self.folder / "mail" / who, box, *(box / n for n in ("tmp", "new", "cur"))):
            os.chown(each, self.uid, self.gid)
        written = box / "tmp" / f"{time.time_ns()}.{len(raw)}.test"
        written.write_bytes(raw)
        os.chown(written, self.uid, self.gid)
        return written.rename(box / "new" / written.name)

    def files(self, who: str = "ada") -> dict[str, bytes]:
        """Return the mails and their flags, which stand in their names."""
        box = self.folder / "mail" / who
        return {
            each.name: each.read_bytes()
            for name in ("new", "cur")
            for each in (box / name).glob("*")
        }

    def renumber(self, who: str = "ada") -> None:
        """Let the server give the mails new numbers."""
        box = self.folder / "mail" / who
        for kept in (box, box / ".Junk"):  # what makes the numbers of folders rise stays
            for each in (*kept.glob("dovecot.index*"), kept / "dovecot-uidlist"):
                each.unlink(missing_ok=True)


@contextmanager
def dovecot(certificate: Path, *, introspection: str = "") -> Generator[Dovecot]:
    """Run one with a mailbox of Ada's; with an introspection page it takes tokens (XOAUTH2), for Postfix too."""
    command = shutil.which("dovecot") or shutil.which("/usr/sbin/dovecot")
    if command is None:
        raise ServerUnavailableError("no Dovecot: install your system's dovecot-imapd package")
    if os.geteuid() != 0:
        raise ServerUnavailableError("a private Dovecot can be started by root alone")
    user = pwd.getpwnam("nobody")
    folder = place.new_folder("dc", place.unprivileged())
    os.chown(folder, 0, 0)
    folder.chmod(0o755)
    for name in ("run", "mail", "home"):
        (folder / name).mkdir(mode=0o755)
    for name in ("mail", "home"):
        os.chown(folder / name, user.pw_uid, user.pw_gid)
    (folder / "users").write_text(f"ada:{{PLAIN}}{PASSWORD}\n")
    ports = _free_ports()
    more = ""
    if introspection:
        oauth = folder / "oauth2.conf"
        oauth.write_text(_INTROSPECTION.format(url=introspection))
        more = _TOKENS.format(file=oauth, socket=folder / "sasl")
    values = {"folder": folder, "certificate": certificate}
    values |= {"user": "nobody", "group": "nogroup", "uid": user.pw_uid, "gid": user.pw_gid}
    file = folder / "dovecot.conf"
    file.write_text(_CONFIGURATION.format(port=ports[0], secure_port=ports[1], **values) + more)
    master = subprocess.Popen(
        [command, "-F", "-c", str(file)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        _wait_for(ports, master, folder / "log")
        yield Dovecot(*ports, folder, user.pw_uid, user.pw_gid)
    finally:
        master.terminate()
        try:
            master.wait(10)
        except subprocess.TimeoutExpired:
            master.kill()
            master.wait()
        if master.stderr is not None:
            master.stderr.close()
        shutil.rmtree(folder, ignore_errors=True)


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as two:
        for each in (one, two):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], two.getsockname()[1]


def _wait_for(ports: tuple[int, int], master: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if master.poll() is not None:
            told = log.read_text(errors="replace")[-800:] if log.exists() else ""
            said = master.stderr.read().decode(errors="replace") if master.stderr else ""
            raise ServerUnavailableError(f"Dovecot ended at once: {told} {said[-800:]}")
        with suppress(OSError), socket.create_connection(("127.0.0.1", ports[0]), 2) as line:
            if line.recv(4) == b"* OK":
                return
        time.sleep(0.05)
    raise ServerUnavailableError("Dovecot did not listen in time")
