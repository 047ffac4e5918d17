"""`cadenza up` and `cadenza demo` as a newcomer starts them: real processes, real signals."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest

MAIN = "import sys; from cadenza.cli import main; main(sys.argv[1:])"


def free_port(count: int = 1) -> int:
    """Find a port with `count` free ones in a row, below those that the system hands out itself."""
    for _ in range(200):
        port = random.SystemRandom().randrange(10_000, 32_000)  # 32,768 and on: anybody's next call
        if all(_is_free(port + step) for step in range(count)):
            return port
    raise AssertionError("no ports in a row are free")


def _is_free(port: int) -> bool:
    with socket.socket() as trial:
        try:
            trial.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@contextmanager
def started(folder: Path, *words: str) -> Generator[tuple[subprocess.Popen[str], Any]]:
    """Start a command that greets in JSON; yield it and what it said."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("CADENZA")}
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, *words, "--json"],
        cwd=folder,
        env=clean,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if line == "}\n":
            break
    try:
        assert said, process.stderr.read() if process.stderr else ""
        yield process, json.loads(said)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


def test_up_serves_offers_its_first_owner_a_link_and_ends_gracefully(tmp_path: Path) -> None:
    port = free_port()
    with started(tmp_path, "up", "--port", str(port)) as (process, said):
        assert said["address"] == f"http://127.0.0.1:{port}"
        assert said["first_start"].startswith(f"{said['address']}/first-start#token=")
        assert httpx2.get(f"{said['address']}/readyz").json() == {"status": "ok"}
        answer = httpx2.post(
            f"{said['address']}/api/v1/auth/first-start",
            json={
                "token": said["first_start"].partition("token=")[2],
                "email": "ada@example.org",
                "name": "Ada",
                "password": "four plain words here",
                "workspace": "Ada and friends",
            },
        )
        assert answer.status_code == 201, answer.text
    assert process.returncode == 0
    with started(tmp_path, "up", "--port", str(port)) as (_, said):
        assert said["first_start"] is None


def test_a_server_takes_what_lasts_out_of_the_collectors_rounds(tmp_path: Path) -> None:
    count = "import gc; print(gc.get_freeze_count(), end='')"
    watch = f"import atexit; atexit.register(lambda: exec({count!r})); {MAIN}"
    words = [sys.executable, "-c", watch, "serve", "--port", str(free_port()), "--json"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line == "}\n":
                break
        process.send_signal(signal.SIGTERM)
        assert int(process.stdout.read()) > 100_000


def test_keys_are_rotated_under_a_house_that_runs(tmp_path: Path) -> None:
    with started(tmp_path, "up", "--port", str(free_port())) as (_, said):
        api = f"{said['address']}/api/v1"
        first = {
            "token": said["first_start"].partition("token=")[2],
            "email": "ada@example.org",
            "name": "Ada",
            "password": "four plain words here",
            "workspace": "Ada and friends",
        }
        with httpx2.Client(headers={"x-cadenza-csrf": "1"}, timeout=60) as browser:
            home = browser.post(f"{api}/auth/first-start", json=first).json()["workspace_id"]
            hooks = f"{api}/workspaces/{home}/webhooks"
            made = browser.post(hooks, json={"url": "https://a.example/hook"}).json()
            secret = f"{hooks}/{made['webhook']['id']}/secret"
            assert rotate(tmp_path) == "k2"
            changed = browser.post(secret)
            assert changed.status_code == 200, changed.text  # it opens what the new key sealed
            (line, _) = (tmp_path / "cadenza-data" / "keys").read_text().splitlines()
            (tmp_path / "cadenza-data" / "keys").write_text(f"{line}\n")
            assert browser.post(secret).status_code == 200  # and seals with the new key itself


def rotate(folder: Path) -> str:
    """Rotate the keys from outside; return the new one's id."""
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "keys", "rotate", "--json"],
        cwd=folder,
        env={k: v for k, v in os.environ.items() if not k.startswith("CADENZA")},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return json.loads(done.stdout)["key"]


def test_a_port_that_is_taken_is_said_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-c", MAIN, "up", "--port", str(port)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert f"127.0.0.1:{port} cannot be served on" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [("up", "--port"), ("demo", "--networks-port")])
def test_a_number_that_is_no_port_is_said_in_one_line(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *words, "99999"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "port" in done.stderr
    assert "65535" in done.stderr
    assert done.stderr.count("\n") == 1


def test_networks_whose_ports_are_taken_take_others(tmp_path: Path) -> None:
    port = free_port(20)
    with socket.socket() as first, socket.socket() as fourth:
        for taken, number in ((first, port), (fourth, port + 3)):
            taken.bind(("127.0.0.1", number))
            taken.listen()
        with started(tmp_path, "simulate", "--port", str(port)) as (_, said):
            desk, *networks = (
                int(url.rpartition(":")[2])
                for url in (said["desk"], *(each["url"] for each in said["networks"].values()))
            )
            assert not {desk, *networks} & {port, port + 3}
            assert port + 1 in networks, "those that are free stay where they are"
            assert httpx2.get(f"{said['desk']}/ledger.json").json() == []
            allowed = said["environment"]["CADENZA_OUTBOUND_ALLOW"].split(",")
            assert {f"127.0.0.1:{each}" for each in networks} <= set(allowed)


@pytest.mark.slow
def test_the_demo_is_lively_and_a_second_start_doubles_nothing(tmp_path: Path) -> None:
    words = ("demo", "--port", str(free_port()), "--networks-port", str(free_port(20)))
    with started(tmp_path, *words) as (_, said):
        ledger = httpx2.get(f"{said['simulator']}/ledger.json").json()
        arrived = [entry for entry in ledger if entry["network"] != "smtp"]  # notices are mailed
        assert len(arrived) == 13  # twelve that were sent, and one whose answer got lost
        for person in said["people"]:
            answer = httpx2.post(
                f"{said['address']}/api/v1/auth/sign-in",
                json={"email": person["email"], "password": person["password"]},
            )
            assert answer.status_code == 200, answer.text
    before = _states(tmp_path)
    assert before["sent"] == 12
    assert before["failed"] == before["unconfirmed"] == 1
    assert before["scheduled"] > 20
    assert before["draft"] > 8
    with started(tmp_path, *words) as (_, said):
        assert _states(tmp_path) == before
        _connect_everything(said)
        # A command in another terminal speaks to the same networks, and to none outside.
        line = f". cadenza-demo/demo.env && {sys.executable} -c '{MAIN}' account connect --json"
        told = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, check=True)
        assert all(each["ready"] for each in json.loads(told.stdout) if each["provider"] == "x")


def _connect_everything(said: Any) -> None:
    """Connect an account of each network, as Ada would, without leaving the machine."""
    ada = said["people"][0]
    with httpx2.Client(base_url=said["address"], headers={"x-cadenza-csrf": "1"}) as browser:
        browser.post(
            "/api/v1/auth/sign-in", json={"email": ada["email"], "password": ada["password"]}
        )
        me = browser.get("/api/v1/me").json()
        home = f"/api/v1/workspaces/{me['workspaces'][0]['workspace_id']}/connect"
        for network, endpoint in said["networks"].items():
            begun = browser.post(f"{home}/{network}", json={"fields": endpoint["typed"]})
            assert begun.status_code == 200, f"{network}: {begun.text}"
            brought = begun.json()
            if brought["redirect"] is not None:
                assert brought["redirect"].startswith("http://127.0.0.1:"), network
                page = httpx2.get(brought["redirect"])  # here everybody says yes
                back = page.headers["location"]
                assert back.startswith(f"{said['address']}/connect/callback?"), network
                words = dict(parse_qsl(urlsplit(back).query))
                brought = browser.post(f"{home}/complete", json=words).json()
            assert brought["accounts"], f"{network}: {brought}"


def test_a_folder_that_is_no_demo_is_not_touched(tmp_path: Path) -> None:
    precious = tmp_path / "mine"
    precious.mkdir()
    (precious / "cadenza.sqlite3").write_text("precious")
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "demo", "--reset", "--data", str(precious)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "no demo" in done.stderr
    assert (precious / "cadenza.sqlite3").read_text() == "precious"


def _states(folder: Path) -> dict[str, int]:
    with sqlite3.connect(folder / "cadenza-demo" / "cadenza.sqlite3") as database:
        # Posts alone: campaigns and sequences of the demo go on while it runs.
        rows = database.execute(
            "SELECT state, count(*) FROM delivery WHERE post_id IS NOT NULL GROUP BY state"
        ).fetchall()
        people = database.execute("SELECT count(*) FROM person").fetchone()[0]
        accounts = database.execute("SELECT count(*) FROM account").fetchone()[0]
    database.close()
    return {**dict(rows), "people": people, "accounts": accounts}
