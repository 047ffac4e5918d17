"""A private Postfix: its own configuration, queue, mailboxes and log in a temporary folder, on a port of loopback.

The programs must be on the machine (Debian: `apt install postfix`); no wheel has them. Its master must be started by
root, and its parts then run as `postfix`; the system's own instance is neither read nor touched. Every process of it
ends with the context.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import smtplib
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.servers import place
from tests.servers.place import ServerUnavailableError

START_SECONDS = 20
DOMAIN = "example.org"
SIZE = 60_000  # bytes that a mail may have
OWNER = "postfix"

_MAIN = """
compatibility_level = 3.6
queue_directory = {folder}/queue
data_directory = {folder}/data
command_directory = /usr/sbin
daemon_directory = {daemons}
mail_owner = postfix
maillog_file = {folder}/maillog
maillog_file_prefixes = {folder}
myhostname = postfix.example.org
mydestination =
mynetworks = 127.0.0.0/8
inet_protocols = ipv4
alias_maps =
alias_database =
local_transport = error:nobody lives here
default_transport = error:nothing leaves this machine
virtual_mailbox_domains = {domain}
virtual_mailbox_base = {folder}/mail
virtual_mailbox_maps = inline:{{ {{ ben@{domain} = ben/ }}, {{ grey@{domain} = grey/ }} }}
virtual_uid_maps = static:{uid}
virtual_gid_maps = static:{gid}
message_size_limit = {size}
mailbox_size_limit = 0
virtual_mailbox_limit = 0
smtpd_recipient_restrictions = permit_auth_destination, reject
smtpd_relay_restrictions = permit_auth_destination, reject
smtpd_data_restrictions = check_policy_service {{ inet:127.0.0.1:{policy}, default_action=DUNNO, timeout=5s }}
smtpd_timeout = {timeout}
smtpd_tls_security_level = may
smtpd_tls_chain_files = {certificate}
smtpd_tls_session_cache_database =
smtpd_sasl_auth_enable = no
"""
_MASTER = """
127.0.0.1:{port} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
error unix - - n - - error
retry unix - - n - - error
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
"""


@dataclass(frozen=True, slots=True)
class Postfix:
    """A running Postfix."""

    port: int
    folder: Path
    begins: int = 0  # where its log begins, for who uses it

    def log(self) -> str:
        """Return what it has written since it was ready."""
        return (self.folder / "maillog").read_text(errors="replace")[self.begins :]

    def wait_for_log(self, pattern: str, *, times: int = 1, seconds: float = 15) -> list[str]:
        """Wait until as many lines hold a pattern, and return them."""
        end = time.monotonic() + seconds
        while True:
            found = [line for line in self.log().splitlines() if re.search(pattern, line)]
            if len(found) >= times:
                return found
            if time.monotonic() > end:
                raise AssertionError(f"not {times} times {pattern!r} in:\n{self.log()}")
            time.sleep(0.02)

    def mails(self, who: str = "ben") -> list[bytes]:
        """Return what is in a mailbox."""
        return [each.read_bytes() for each in (self.folder / "mail" / who / "new").glob("*")]


def find_binaries() -> tuple[str, Path]:
    """Return the command and the folder of the daemons."""
    command = shutil.which("postfix") or shutil.which("/usr/sbin/postfix")
    if command is None:
        raise ServerUnavailableError("no Postfix: install your system's postfix package")
    if os.geteuid() != 0:
        raise ServerUnavailableError("Postfix can be started by root alone")
    for folder in ("/usr/lib/postfix/sbin", "/usr/libexec/postfix", "/usr/lib/postfix"):
        if (Path(folder) / "master").exists():
            return command, Path(folder)
    raise ServerUnavailableError("Postfix has no master: install your system's postfix package")


@contextmanager
def postfix(
    certificate: Path, *, policy: int = 9, timeout: str = "30s", more: str = ""
) -> Generator[Postfix]:
    """Run one; it asks the policy service on port `policy` before it takes a mail's data.

    `more` is configuration that wins over the usual one.
    """
    command, daemons = find_binaries()
    try:
        owner, reader = pwd.getpwnam(OWNER), pwd.getpwnam("nobody")
    except KeyError as missing:
        raise ServerUnavailableError(f"Postfix needs a user: {missing}") from None
    folder = place.new_folder("pf", place.unprivileged())  # where its parts can walk to
    os.chown(folder, 0, 0)
    folder.chmod(0o755)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    for name in ("queue", "data", "mail", "etc"):
        (folder / name).mkdir(mode=0o755)
    os.chown(folder / "data", owner.pw_uid, owner.pw_gid)
    os.chown(folder / "mail", reader.pw_uid, reader.pw_gid)
    values = {
        "folder": folder,
        "daemons": daemons,
        "domain": DOMAIN,
        "size": SIZE,
        "policy": policy,
    }
    values |= {"uid": reader.pw_uid, "gid": reader.pw_gid, "timeout": timeout}
    etc = folder / "etc"
    (etc / "main.cf").write_text(_MAIN.format(**values, certificate=certificate) + more)
    (etc / "master.cf").write_text(_MASTER.format(port=port))
    checked = subprocess.run(
        [command, "-c", str(etc), "check"], capture_output=True, text=True, check=False
    )
    if checked.returncode != 0:
        raise ServerUnavailableError(f"Postfix does not take its configuration: {checked.stderr}")
    master = subprocess.Popen([daemons / "master", "-c", etc, "-d"], stdin=subprocess.DEVNULL)
    try:
        _wait_for(port, master, folder / "maillog")
        ready = Postfix(port, folder)
        ready.wait_for_log("disconnect from")  # ours, from waiting
        yield replace(ready, begins=len(ready.log()))
    finally:
        master.terminate()
        try:
            master.wait(10)
        except subprocess.TimeoutExpired:
            master.kill()
            master.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(port: int, master: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if master.poll() is not None:
            told = log.read_text(errors="replace")[-500:] if log.exists() else "it wrote nothing"
            raise ServerUnavailableError(f"Postfix ended at once: {told}")
        try:
            smtplib.SMTP("127.0.0.1", port, timeout=START_SECONDS).quit()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise ServerUnavailableError("Postfix did not listen in time")
