"""An agent's program starts `cadenza mcp` and speaks with it over real pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cadenza.cli.run import run
from tests.cli.conftest import Said

START = "import sys; from cadenza.cli.run import run; sys.exit(run(sys.argv[1:]))"
SECRET = "whsec_cmVoZWFyc2FsLXNpZ25pbmcta2V5LW9mLWFkYS0zMmI="
PING = '{"jsonrpc": "2.0", "id": 7, "method": "ping"}'


class Ada:
    """`ada("post", "list")` is `cadenza post list` in her folder."""

    def __init__(self, capture: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self._capture = capture
        self._patch = patch

    def __call__(self, *words: str, given: Path | None = None) -> Said:
        self._capture.readouterr()
        with (given or Path(os.devnull)).open() as source, self._patch.context() as patch:
            patch.setattr(sys, "stdin", source)
            code = run(words)
        out, err = self._capture.readouterr()
        return Said(code, out, err)


class Agent:
    """The program on the other end of the pipes."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self.child = child
        self._count = 0

    def tell(self, message: object) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(json.dumps(message).encode() + b"\n")
        self.child.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._count += 1
        self.tell({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        assert self.child.stdout is not None
        answer = json.loads(self.child.stdout.readline())
        assert answer["id"] == self._count, "answers come in order, and notifications give none"
        return answer

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = self.ask("tools/call", name=name, arguments=arguments)["result"]
        assert not result["isError"], result
        return result["structuredContent"]

    def end(self) -> tuple[int, bytes]:
        out, _ = self.child.communicate(timeout=60)
        return self.child.returncode, out


@pytest.fixture
def ada(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ada:
    for name in [name for name in os.environ if name.startswith("CADENZA")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    ada = Ada(capsys, monkeypatch)
    made = ada("person", "create", "ada@example.org", "Ada", "--password", "four plain words here")
    assert made.code == 0, made.err
    return ada


@pytest.fixture
def agent(ada: Ada) -> Iterator[Agent]:
    """Start the command as an agent's program does: a child with pipes, in Ada's folder."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", START, "mcp"], stdin=pipe, stdout=pipe) as child:
        yield Agent(child)
        child.kill()


def test_an_agent_queues_a_post_after_a_dry_run_over_pipes(ada: Ada, agent: Agent) -> None:
    fields = ("--field", "url=https://hooks.example.org/ada", "--field", f"secret={SECRET}")
    assert ada("account", "connect", "webhook", *fields).code == 0
    assert ada("queue", "schedule", "webhook", "--slot", "mon=09:00").code == 0
    post = ada("post", "create", "hello", "--json").data["id"]

    begun = agent.ask("initialize", protocolVersion="2025-06-18", capabilities={})
    assert begun["result"]["serverInfo"]["name"] == "cadenza"
    agent.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})
    names = {tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]}
    assert {"queues_add_to_queue", "queues_show_queue"} <= names

    requested = {"body": {"post_id": post}}
    tried = agent.call("queues_add_to_queue", **requested)
    assert tried["dry_run"]["dry_run"]
    assert ada("post", "show", post, "--json").data["pills"] == []
    done = agent.call("queues_add_to_queue", **requested, confirm=tried["confirm"])
    assert done["answers"][0]["outcome"] == "queued"
    assert len(ada("post", "show", post, "--json").data["pills"]) == 1

    assert agent.end() == (0, b"")


def test_what_cannot_be_carried_is_answered_and_the_next_line_is_read(
    ada: Ada, tmp_path: Path
) -> None:
    lines = (
        "no json",
        "[]",
        '{"jsonrpc": "2.0", "id": 3}',
        '{"jsonrpc": "2.0", "id": 4, "result": {}}',
        '{"jsonrpc": "1.0", "id": 5, "method": "ping"}',
        '{"jsonrpc": "1.0", "method": "ping"}',
        "",
        PING,
    )
    (tmp_path / "lines").write_text("\n".join(lines))
    done = ada("mcp", given=tmp_path / "lines")
    assert done.code == 0, done.err
    said = [json.loads(line) for line in done.out.splitlines()]
    assert [(each["id"], each.get("error", {}).get("code")) for each in said] == [
        (None, -32700),
        (None, -32600),
        (3, -32600),
        (5, -32000),
        (7, None),
    ]
    assert "jsonrpc" in done.err  # the notification was refused, and nobody waits for that


def test_a_server_that_is_away_is_told_to_the_agent(ada: Ada, tmp_path: Path) -> None:
    (tmp_path / "lines").write_text(PING)
    reach = ("--server", "http://127.0.0.1:9", "--key", "k", "--workspace", "w")
    done = ada("mcp", *reach, given=tmp_path / "lines")
    assert done.code == 0
    assert "nobody answers" in done.data["error"]["message"]
