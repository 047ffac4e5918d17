"""Makes `data/exim_mail.jsonl`: reports and automatic answers that a real Exim wrote, each with its label.

Run it as root, with Debian's packages unpacked and not installed (Exim and Postfix can't be installed together):

    apt-get download exim4-daemon-light libidn12
    for each in *.deb; do dpkg -x "$each" /tmp/exim; done
    unshare -m python -m tests.inbox.make_exim_mails /tmp/exim

Exim looks up its own user and a library, so copies of the system's lists with these in them are laid over them, in
the mount namespace that `unshare` makes. A small server refuses recipients as servers on the Internet do; addresses and texts
are invented. What changes with each run (ids, times) is kept as it came.
"""

import json
import os
import re
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

DATA = Path(__file__).parent / "data" / "exim_mail.jsonl"
ADA = "ada@example.org"
HARD, SOFT, POLICY, CONTENT = "bounce_hard", "bounce_soft", "bounce_policy", "bounce_content"
# Recipient, what the server over there answers, the code that it comes to, and what that means.
REMOTE = [
    ("unknown@one.example", "550 5.1.1 <unknown@one.example>: Recipient address rejected: User unknown", "5.1.1", HARD),
    ("gone@one.example", "550 5.1.1 The email account that you tried to reach does not exist.", "5.1.1", HARD),
    ("disabled@two.example", "554 5.2.1 This mailbox is disabled and doesn't receive mail", "5.2.1", HARD),
    ("full@two.example", "552 5.2.2 The recipient's mailbox is over its storage quota", "5.2.2", SOFT),
    ("large@three.example", "552 5.3.4 Message size exceeds fixed limit", "5.3.4", CONTENT),
    ("spf@three.example", "550 5.7.23 The message was rejected because of SPF policy violation", "5.7.23", POLICY),
    ("dmarc@four.example", "550 5.7.26 Unauthenticated email is not accepted due to the domain's DMARC policy", "5.7.26", POLICY),
    ("listed@four.example", "554 5.7.1 Service unavailable; Client host blocked using a block list", "5.7.1", POLICY),
    ("plain@five.example", "550 No such user here", "550", HARD),
    ("spam@five.example", "554 Message rejected: looks like spam", "554", POLICY),
    ("relay@six.example", "550 5.7.1 Relaying denied by policy", "5.7.1", POLICY),
    ("content@six.example", "554 5.6.0 Message content is not acceptable", "5.6.0", CONTENT),
]  # fmt: skip
# What Exim's own routers end with, without another server.
LOCAL = [
    ("nobody@fail.example", "User unknown", "5.0.0", HARD),
    ("closed@fail.example", "This account is disabled", "5.0.0", HARD),
]
LATE = [
    ("busy@late.example", "450 4.2.1 The mailbox is receiving mail too quickly", "4.2.1", SOFT),
    ("grey@late.example", "451 4.7.1 Greylisted, please try again later", "4.7.1", POLICY),
]
AWAY = [("ben", "Out of office"), ("cy", "Re: An offer")]  # known by the header alone


class Refuser(socketserver.StreamRequestHandler):
    """A mail server that refuses each recipient in the words of its case."""

    def handle(self) -> None:
        answers = {to: answer for to, answer, _, _ in (*REMOTE, *LATE)}
        self.wfile.write(b"220 mx.remote.example ESMTP\r\n")
        for line in self.rfile:
            command = line.decode().strip()
            verb = command.upper()
            if verb.startswith("RCPT TO:"):
                said = answers[command[9 : command.index(">")]]
            elif verb.startswith("QUIT"):
                self.wfile.write(b"221 2.0.0 bye\r\n")
                return
            else:
                said = (
                    "250 mx.remote.example" if verb.startswith(("EHLO", "HELO")) else "250 2.0.0 ok"
                )
            self.wfile.write(f"{said}\r\n".encode())


class Exim:
    """A private Exim: its own spool, its own mailboxes, no daemon."""

    def __init__(self, root: Path, folder: Path, port: int) -> None:
        self.folder = folder
        self._program = str(root / "usr/sbin/exim4")
        reasons = "".join(f"{to.partition('@')[0]}: {why}\n" for to, why, _, _ in LOCAL)
        (folder / "reasons").write_text(reasons)
        (folder / "away").write_text("".join(f"{who}: {subject}\n" for who, subject in AWAY))
        self._conf = folder / "exim.conf"
        self._conf.write_text(CONFIGURATION.format(folder=folder, port=port, program=self._program))
        for each in (folder, folder / "spool", folder / "log"):
            each.mkdir(exist_ok=True)
            os.chown(each, 990, 990)

    def run(self, *arguments: str, mail: str = "") -> None:
        command = [self._program, "-C", str(self._conf), *arguments]
        subprocess.run(command, input=mail.encode(), check=False, capture_output=True, timeout=60)

    def send(self, to: str) -> str:
        id_ = f"<{time.time_ns():x}@cadenza.example.org>"
        mail = f"From: Ada <{ADA}>\nTo: {to}\nSubject: An offer\nMessage-ID: {id_}\n\nDear reader\n"
        self.run("-odf", "-oi", "-f", ADA, to, mail=mail)
        return id_

    def find(self, id_: str, words: str) -> bytes:
        """Run the queue until this report has come."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for path in sorted((self.folder / "ada" / "new").glob("*")):
                raw = path.read_bytes()
                if id_.encode() in raw and words.encode() in raw:
                    return raw
            time.sleep(0.5)
            self.run("-qff")
        log = (self.folder / "log" / "mainlog").read_text()
        raise AssertionError(f"no {words} for {id_}:\n{log}")


CONFIGURATION = """
exim_path = {program}
keep_environment =
primary_hostname = mx.cadenza.example.org
spool_directory = {folder}/spool
log_file_path = {folder}/log/%slog
qualify_domain = example.org
trusted_users = root
disable_ipv6 = true
delay_warning = 1s
delay_warning_condition = true

begin routers
own:
  driver = accept
  domains = example.org
  local_parts = ada
  transport = mailbox
away:
  driver = accept
  domains = example.org
  transport = answer
fail:
  driver = redirect
  domains = fail.example
  allow_fail
  data = :fail: ${{lookup{{$local_part}}lsearch{{{folder}/reasons}}}}
remote:
  driver = manualroute
  domains = *.example
  transport = remote
  route_list = * 127.0.0.1 byname
  self = send

begin transports
mailbox:
  driver = appendfile
  maildir_format
  directory = {folder}/ada
  user = Debian-exim
  group = Debian-exim
answer:
  driver = autoreply
  user = Debian-exim
  group = Debian-exim
  to = $sender_address
  from = ${{local_part}}@example.org
  subject = ${{lookup{{$local_part}}lsearch{{{folder}/away}}}}
  text = I am away until Monday.
remote:
  driver = smtp
  port = {port}
  allow_localhost
  hosts_avoid_tls = *

begin retry
* * F,8s,1s
"""


def main(root: Path) -> None:
    """Send, wait for the reports, and write them with their labels."""
    with (
        tempfile.TemporaryDirectory(dir="/tmp") as name,
        socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refuser) as server,
    ):
        folder = Path(name)
        folder.chmod(0o755)
        _prepare(folder, next(root.glob("usr/lib/*-linux-gnu")))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        samples = _samples(Exim(root, folder, server.server_address[1]))
        server.shutdown()
    DATA.write_text("".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in samples))
    print(len(samples), "samples", file=sys.stderr)


def _samples(exim: Exim) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    late = [(case, exim.send(case[0])) for case in LATE]
    for number, (to, _, code, label) in enumerate((*REMOTE, *LOCAL)):
        id_ = exim.send(to)
        raw = exim.find(id_, "X-Failed-Recipients")
        found.append(_sample(f"exim-{number:02}", "dsn", label, raw, id_, to, code))
    for (to, _, code, label), id_ in late:
        raw = exim.find(id_, "Action: delayed")
        found.append(_sample(f"exim-delayed-{to}", "delay", "delayed", raw, id_, to, code))
        raw = exim.find(id_, "X-Failed-Recipients")
        found.append(_sample(f"exim-expired-{to}", "dsn", label, raw, id_, to, code))
    for who, _ in AWAY:
        id_ = exim.send(f"{who}@example.org")
        raw = exim.find(id_, "away until Monday")
        to = f"{who}@example.org"
        found.append(_sample(f"exim-away-{who}", "auto_reply", "auto_reply", raw, id_, to, None))
    return found


def _sample(
    name: str, kind: str, label: str, raw: bytes, id_: str, to: str, code: str | None
) -> dict[str, object]:
    hard = label == "bounce_hard" if label.startswith("bounce_") or label == "delayed" else None
    text = re.sub(r"\r?\n", "\r\n", raw.decode("utf-8"))
    expects = {"original_message_id": id_, "recipient": to, "code": code, "hard": hard}
    return {"id": name, "label": label, "kind": kind, "raw": text, "expects": expects}


def _prepare(folder: Path, libraries: Path) -> None:
    """Lay lists with Exim's user and its library over the system's; only this namespace sees them."""
    for name, line in (
        ("passwd", "Debian-exim:x:990:990::/tmp:/usr/sbin/nologin\n"),
        ("group", "Debian-exim:x:990:\n"),
    ):
        (folder / name).write_text(Path("/etc", name).read_text() + line)
    subprocess.run(["ldconfig", "-C", str(folder / "ld.so.cache"), str(libraries)], check=True)
    for name in ("passwd", "group", "ld.so.cache"):
        (folder / name).chmod(0o644)
        subprocess.run(["mount", "--bind", str(folder / name), f"/etc/{name}"], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
