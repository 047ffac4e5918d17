"""The operator's hand on the product: db, keys, config, worker, simulate, each as a real command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from cadenza.cli.run import run
from tests.cli.conftest import Said

WORKER = "import sys; from cadenza.cli import main; main(sys.argv[1:])"


@dataclass(frozen=True, slots=True)
class Operator:
    """`operator("db", "status")` is `cadenza db status` in a folder and an environment of its own."""

    monkeypatch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]

    def __call__(self, *words: str, **environ: str) -> Said:
        self.capture.readouterr()
        with self.monkeypatch.context() as place:
            for name, value in environ.items():
                place.setenv(name, value)
            code = run(words)
        out, err = self.capture.readouterr()
        return Said(code, out, err)


@pytest.fixture
def operator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Operator:
    for name in [name for name in os.environ if name.startswith("CADENZA")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return Operator(monkeypatch, capsys)


def start(tmp_path: Path, *words: str) -> subprocess.Popen[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("CADENZA")}
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, *words],
        cwd=tmp_path,
        env=clean,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_a_database_that_is_not_there_is_not_made_by_looking(
    operator: Operator, tmp_path: Path
) -> None:
    looked = operator("db", "status")
    assert looked.code == 3
    assert "there is no database" in looked.err
    assert not (tmp_path / "cadenza-data").exists()


def test_a_restore_is_declared_shown_and_confirmed(operator: Operator) -> None:
    assert operator("db", "upgrade").code == 0
    status = operator("db", "status", "--json")
    assert status.code == 0
    assert status.data["sending"] == "allowed"
    assert operator("db", "restored").code == 0
    held = operator("db", "status")
    assert held.code == 1
    assert "cadenza db confirm" in held.out
    assert operator("db", "confirm").code == 0
    again = operator("db", "confirm")
    assert again.code == 1
    assert "nothing to confirm" in again.err


def test_a_backup_starts_with_sending_held_and_is_never_overwritten(
    operator: Operator, tmp_path: Path
) -> None:
    operator("db", "upgrade")
    made = operator("db", "backup", "copy.sqlite3")
    assert made.code == 0
    assert (tmp_path / "copy.sqlite3").stat().st_mode & 0o777 == 0o600
    copy = operator("db", "status", CADENZA_DATABASE="sqlite:///copy.sqlite3")
    assert copy.code == 1
    assert "it is a copy" in copy.out
    assert operator("db", "backup", "copy.sqlite3").code == 1
    nowhere = operator("db", "backup", "no/folder/copy.sqlite3")
    assert (nowhere.code, nowhere.err.count("\n")) == (1, 1)
    assert "no/folder/copy.sqlite3 cannot be written" in nowhere.err


def test_keys_are_rotated_and_old_ones_stay(operator: Operator, tmp_path: Path) -> None:
    operator("db", "upgrade")
    done = operator("keys", "rotate", "--json")
    assert done.data["key"] == "k2"
    lines = (tmp_path / "cadenza-data" / "keys").read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["k2", "k1"]


def test_config_check_names_what_is_missing_and_shows_no_secret(
    operator: Operator, tmp_path: Path
) -> None:
    (tmp_path / "cadenza.toml").write_text(
        'database = "postgresql://ada:canary-one@db.lan/cadenza"\n'
        '[mail]\nhost = "mail.lan"\nsender = "a@b.example"\npassword = "canary-two"\n'
        '[providers.x]\nclient_id = "abc"\nclient_secret = "canary-three"\n'
    )
    found = operator("config", "check")
    assert found.code == 0, found.err
    assert "canary" not in found.out + found.err
    assert "CADENZA_PROVIDERS_LINKEDIN_CLIENT_ID" in found.out
    told = operator("config", "check", "--json").data
    ready = {each["provider"]: each["ready"] for each in told["networks"]}
    assert ready["x"]
    assert ready["mastodon"]
    assert not ready["linkedin"]


def test_config_check_imports_the_copywriter(operator: Operator, tmp_path: Path) -> None:
    (tmp_path / "poems.py").write_text("class Poet:\n    async def write(self, brief): ...\n")
    mail = {"CADENZA_MAIL_HOST": "mail.lan", "CADENZA_MAIL_SENDER": "a@b.example"}
    assert operator("config", "check", CADENZA_COPYWRITER="poems:Poet", **mail).code == 0
    told = operator("config", "check", CADENZA_COPYWRITER="poems:Bard", **mail)
    assert (told.code, "has no 'Bard'" in told.out + told.err) == (1, True)
    assert operator("config", "check", CADENZA_COPYWRITER="poems").code == 2


def test_a_wrong_setting_is_one_line_and_the_code_of_misuse(operator: Operator) -> None:
    refused = operator("worker", CADENZA_MAIL_HOTS="x")
    assert refused.code == 2
    assert refused.err.splitlines() == [
        "cadenza: environment: CADENZA_MAIL_HOTS sets nothing. Did you mean 'CADENZA_MAIL_HOST'?"
    ]


def test_a_server_that_is_away_is_told_without_its_password(operator: Operator) -> None:
    away = operator("db", "status", CADENZA_DATABASE="postgresql://ada:canary@127.0.0.1:1/x")
    assert away.code == 3
    assert "canary" not in away.out + away.err


@pytest.mark.slow
def test_the_worker_starts_and_stops_gracefully(tmp_path: Path) -> None:
    process = start(tmp_path, "worker", "--log", "json")
    assert process.stdout is not None
    assert "worker started" in process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "worker stopped" in rest


@pytest.mark.slow
def test_the_simulator_prints_what_to_set_and_ends_when_told(tmp_path: Path) -> None:
    process = start(tmp_path, "simulate", "--port", "0", "--json", "--fault", "x:delay")
    assert process.stdout is not None
    said = ""
    began = time.monotonic()
    while not said.endswith("}\n") or said.count("{") != said.count("}"):
        said += process.stdout.readline()
        assert time.monotonic() - began < 60
    told = json.loads(said)
    assert told["environment"]["CADENZA_PROVIDERS_X_CLIENT_ID"]
    assert set(told["networks"]) >= {"mastodon", "smtp", "x"}
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_fault_that_does_not_exist_is_refused(operator: Operator) -> None:
    refused = operator("simulate", "--port", "0", "--fault", "mastodn:delay")
    assert refused.code == 2
    assert "Did you mean 'mastodon'?" in refused.err
