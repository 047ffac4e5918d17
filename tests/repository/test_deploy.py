"""What the files for several machines name is there: commands, settings, files."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import pytest
import yaml

from cadenza.cli.run import GROUPS
from cadenza.config.load import load
from cadenza.providers.registry import all_providers

ROOT = Path(__file__).parents[2]
FILES = [
    ROOT / "Dockerfile",
    ROOT / "compose.yaml",
    ROOT / "docs" / "guides" / "several-machines.md",
    *sorted((ROOT / "deploy").glob("*.service")),
]
COMMAND = re.compile(
    r"(?:^\$ |bin/|CMD \[\"|command: \[)cadenza(?:\", \"|, | )([a-z]+)", re.MULTILINE
)
VARIABLE = re.compile(r"\b(CADENZA_[A-Z_]+)(?:=|: |\)|`)")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_commands_and_settings_are_there(file: Path) -> None:
    text = file.read_text()
    commands = COMMAND.findall(text)
    assert commands, f"{file.name} starts nothing"
    assert set(commands) <= GROUPS.keys()
    values = {"CADENZA_LOG": "json", "CADENZA_LOG_LEVEL": "info", "CADENZA_MEDIA_STORAGE": "s3"}
    named = set(VARIABLE.findall(text)) - {"CADENZA_CONFIG"}
    load(environ={name: values.get(name, "a value") for name in named}, providers=all_providers())


def test_what_the_image_copies_is_in_the_repository() -> None:
    copied = re.findall(
        r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE
    )
    for path in " ".join(copied).split():
        assert (ROOT / path).exists(), path


def test_nothing_comes_into_the_image_without_its_hash() -> None:
    image = (ROOT / "Dockerfile").read_text()
    fetched = re.findall(r"pip install [^&\n]*", image)
    assert len(fetched) == image.count("pip install"), "each on one line, to be read here"
    for command in fetched:
        own = "--no-deps /wheels/" in command  # what the first stage made
        assert own or "--require-hashes" in command, command
    assert "--no-build-isolation" in image, "pip would fetch the build's own tools by itself"


def test_the_compose_file_is_whole() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text())
    services = compose["services"]
    assert {"database", "api", "worker-1", "worker-2"} <= services.keys()
    for name, service in services.items():
        assert "image" in service or "build" in service, name
        assert set(service.get("depends_on", ())) <= services.keys(), name
        mounted = {volume.partition(":")[0] for volume in service.get("volumes", ())}
        assert mounted <= compose["volumes"].keys(), name


def test_units_can_be_read_and_start_the_program() -> None:
    for unit in (ROOT / "deploy").glob("*.service"):
        read = configparser.ConfigParser(strict=False, interpolation=None)
        read.read_string(unit.read_text())
        assert {"Unit", "Service", "Install"} <= set(read.sections()), unit.name
        assert read["Service"]["ExecStart"].startswith("/opt/cadenza/"), unit.name


def test_supervisors_wait_longer_than_a_worker_needs() -> None:
    grace = load(environ={}).worker.grace
    for unit in (ROOT / "deploy").glob("*.service"):
        (seconds,) = re.findall(r"^TimeoutStopSec=(\d+)$", unit.read_text(), re.MULTILINE)
        assert int(seconds) > grace + 10
    (seconds,) = re.findall(r"stop_grace_period: (\d+)s", (ROOT / "compose.yaml").read_text())
    assert int(seconds) > grace + 10


def test_servers_may_open_enough_files() -> None:
    for unit in (ROOT / "deploy").glob("*.service"):
        (count,) = re.findall(r"^LimitNOFILE=(\d+)$", unit.read_text(), re.MULTILINE)
        assert int(count) >= 16_384, unit.name
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text())
    for name in ("api", "worker-1", "worker-2"):
        assert compose["services"][name]["ulimits"]["nofile"] >= 16_384, name


def test_nothing_runs_with_more_rights_than_it_needs() -> None:
    image = (ROOT / "Dockerfile").read_text()
    assert re.findall(r"^USER (\w+)$", image, re.MULTILINE)[-1] == "cadenza"
    assert "--require-hashes -r /tmp/runtime.txt" in image
    compose = (ROOT / "compose.yaml").read_text()
    for word in (
        "read_only: true",
        "cap_drop: [ALL]",
        "no-new-privileges:true",
        '"127.0.0.1:8400:8400"',
    ):
        assert word in compose, word
    units = sorted((ROOT / "deploy").glob("*.service"))
    for unit in units:
        lines = unit.read_text().splitlines()
        for line in (
            "User=cadenza",
            "NoNewPrivileges=yes",
            "ProtectSystem=strict",
            "ProtectHome=yes",
        ):
            assert line in lines, (unit.name, line)
    assert load(environ={}).listen.host == "127.0.0.1", "nobody else is let in unasked"
