"""Makes `data/postfix_mail.jsonl`: reports that a real Postfix wrote, each with the label that its cause demands.

Run it as root where Postfix is installed: `python -m tests.inbox.make_postfix_mails`. Recipients are sent to
Postfix's own error and retry services, so that each report has the code and the words of a real refusal; addresses
and texts are invented. What changes with each run (ids, times) is kept as it came.
"""

import json
import re
import smtplib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.servers.postfix import Postfix, postfix

DATA = Path(__file__).parent / "data" / "postfix_mail.jsonl"
ADA = "ada@example.org"
HARD, SOFT, POLICY, CONTENT = "bounce_hard", "bounce_soft", "bounce_policy", "bounce_content"
# Recipient, how Postfix ends it, and what that means.
CASES = [
    ("unknown@one.example", "error:5.1.1 550 5.1.1 <unknown@one.example>: User unknown", HARD),
    ("moved@one.example", "error:5.1.6 The mailbox has moved; no forwarding address", HARD),
    ("nodomain@two.example", "error:5.1.2 Host or domain name not found", HARD),
    ("nullmx@two.example", "error:5.1.10 Domain two.example does not accept mail (nullMX)", HARD),
    ("closed@three.example", "error:5.2.1 This mailbox is disabled", HARD),
    ("full@three.example", "error:5.2.2 The mailbox is over quota", SOFT),
    ("noroute@four.example", "error:5.4.4 Unable to route: no mail exchanger answers", HARD),
    ("large@four.example", "error:5.3.4 The message is too large for this system", CONTENT),
    (
        "toolarge@four.example",
        "error:5.2.3 Message length exceeds the limit of the mailbox",
        CONTENT,
    ),
    ("system@five.example", "error:5.3.0 Other mail system problem", SOFT),
    ("loop@five.example", "error:5.4.6 Too many hops: mail loop", SOFT),
    ("spf@six.example", "error:5.7.23 SPF validation failed", POLICY),
    ("dkim@six.example", "error:5.7.20 No passing DKIM signature found", POLICY),
    (
        "dmarc@six.example",
        "error:5.7.26 Unauthenticated mail is not accepted due to DMARC policy",
        POLICY,
    ),
    (
        "blocked@seven.example",
        "error:5.7.1 Service unavailable; client host blocked by a block list",
        POLICY,
    ),
    ("norecipient@seven.example", "error:5.7.1 Recipient rejected: mailbox does not exist", HARD),
    ("owner@seven.example", "error:5.7.17 The mailbox owner has changed", HARD),
    ("content@eight.example", "error:5.6.0 The message content is not acceptable", CONTENT),
    ("protocol@eight.example", "error:5.5.4 Invalid command arguments", POLICY),
    ("relay@eight.example", "error:5.7.0 Relay access denied by policy", POLICY),
]
LATE = [
    ("busy@nine.example", "retry:4.2.1 The mailbox is receiving mail too quickly", SOFT),
    ("grey@nine.example", "retry:4.7.1 Greylisted, please try again", POLICY),
    ("away@nine.example", "retry:4.4.1 Connection timed out", SOFT),
]


def main() -> None:
    """Send, wait for the reports, and write them with their labels."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        certificate = _certificate(Path(folder))
        routes = Path(folder) / "transport"
        routes.write_text("".join(f"{to} {how}\n" for to, how, _ in (*CASES, *LATE)))
        Path(folder).chmod(0o755)
        more = f"""
virtual_mailbox_maps = inline:{{ {{ {ADA} = ada/ }}, {{ ben@example.org = ben/ }} }}
smtpd_recipient_restrictions = permit_mynetworks, reject
smtpd_relay_restrictions = permit_mynetworks, reject
transport_maps = texthash:{routes}
smtputf8_enable = yes
smtpd_reject_unlisted_recipient = no
delay_warning_time = 2s
queue_run_delay = 1s
minimal_backoff_time = 1s
maximal_backoff_time = 1s
maximal_queue_lifetime = 8s
bounce_queue_lifetime = 8s
"""
        with postfix(certificate, more=more) as server:
            samples = [*_bounces(server), *_others(server)]
    DATA.write_text("".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in samples))
    print(len(samples), "samples", file=sys.stderr)


def _bounces(server: Postfix) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for number, (to, how, label) in enumerate(CASES):
        id_ = _send(server, to, ret="HDRS" if number % 2 else "FULL")
        raw = _await(server, id_, "Action: failed")
        code = how.partition(":")[2].split()[0]
        found.append(_sample(f"postfix-{number:02}", "dsn", label, raw, id_, to, code))
    return found


def _others(server: Postfix) -> list[dict[str, object]]:
    """Return delays and what follows them, a confirmation, and reports about an address with an accent."""
    found: list[dict[str, object]] = []
    ids = [(case, _send(server, case[0])) for case in LATE]
    for (to, how, label), id_ in ids:
        code = how.partition(":")[2].split()[0]
        late = _await(server, id_, "Action: delayed")
        found.append(_sample(f"postfix-delayed-{to}", "delay", "delayed", late, id_, to, code))
        gone = _await(server, id_, "Action: failed")
        found.append(_sample(f"postfix-expired-{to}", "dsn", label, gone, id_, to, code))
    id_ = _send(server, "ben@example.org", notify="SUCCESS")
    done = _await(server, id_, "Action: delivered")
    found.append(
        _sample("postfix-delivered", "dsn", "delivered", done, id_, "ben@example.org", "2.0.0")
    )
    return found


def _send(server: Postfix, to: str, *, ret: str = "HDRS", notify: str = "FAILURE,DELAY") -> str:
    id_ = f"<{time.time_ns():x}@cadenza.example.org>"
    mail = f"From: Ada <{ADA}>\r\nTo: {to}\r\nSubject: An offer\r\nMessage-ID: {id_}\r\n\r\nDear reader\r\n"
    with smtplib.SMTP("127.0.0.1", server.port, timeout=10) as line:
        options = [f"NOTIFY={notify}", f"ORCPT=rfc822;{to}"]
        line.sendmail(ADA, [to], mail.encode(), mail_options=[f"RET={ret}"], rcpt_options=options)
    return id_


def _await(server: Postfix, id_: str, action: str) -> bytes:
    end = time.monotonic() + 40
    while time.monotonic() < end:
        for raw in server.mails("ada"):
            if id_.encode() in raw and action.encode() in raw:
                return raw
        time.sleep(0.1)
    raise AssertionError(f"no {action} for {id_}:\n{server.log()}")


def _sample(
    name: str, kind: str, label: str, raw: bytes, id_: str, to: str, code: str
) -> dict[str, object]:
    hard = label == "bounce_hard" if label.startswith("bounce_") or label == "delayed" else None
    text = re.sub(r"\r?\n", "\r\n", raw.decode("utf-8"))
    expects = {"original_message_id": id_, "recipient": to, "code": code, "hard": hard}
    return {"id": name, "label": label, "kind": kind, "raw": text, "expects": expects}


def _certificate(folder: Path) -> Path:
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-keyout", str(key), "-out", str(cert), "-subj", "/CN=x"),
        ],
        check=True,
        capture_output=True,
    )
    both = folder / "both.pem"
    both.write_bytes(key.read_bytes() + cert.read_bytes())
    return both


if __name__ == "__main__":
    main()
