"""Hundreds of half-open requests end neither the service of others nor the disk."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_up import MAIN, free_port

FILES = 256  # that the server may open
CROWD = 300
PATIENCE = 60  # seconds
LIMITED = f"import resource as r; r.setrlimit(r.RLIMIT_NOFILE, ({FILES}, {FILES})); {MAIN}"


@pytest.mark.parametrize("at_once", [False, True], ids=["as they come", "all at once"])
def test_half_open_requests_leave_others_alone_and_the_log_small(
    tmp_path: Path, *, at_once: bool
) -> None:
    port = free_port()
    clean = {k: v for k, v in os.environ.items() if not k.startswith("CADENZA")}
    with subprocess.Popen(
        [sys.executable, "-c", LIMITED, "serve", "--port", str(port), "--json"],
        cwd=tmp_path,
        env=clean,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        while process.stdout.readline() not in ("}\n", ""):
            pass
        try:
            stopped = process if at_once else None
            assert asyncio.run(crowd_in(port, stopped)) == b"HTTP/1.1 200 OK\r\n"
        finally:
            process.send_signal(signal.SIGTERM)
            _, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "too many connections from one address" in log
    assert "out of system resource" not in log
    assert len(log) < 25_000


async def crowd_in(port: int, stopped: subprocess.Popen[str] | None) -> bytes:
    """Open many requests and finish none; return what somebody elsewhere is answered meanwhile.

    A server that is stopped while they connect finds them all there at once.
    """
    async with asyncio.timeout(PATIENCE):
        if stopped is not None:
            stopped.send_signal(signal.SIGSTOP)
        opening = [
            asyncio.create_task(asyncio.open_connection("127.0.0.1", port)) for _ in range(CROWD)
        ]
        await asyncio.wait(opening, return_when=asyncio.FIRST_COMPLETED)
        if stopped is not None:
            stopped.send_signal(signal.SIGCONT)
        crowd = await asyncio.gather(*opening)
        for _, writer in crowd:
            writer.write(b"GET /healthz HTTP/1.1\r\nhost:")
        try:
            return await ask_from("127.0.0.2", port)
        finally:
            for _, writer in crowd:
                writer.transport.abort()


async def ask_from(address: str, port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    writer.write(f"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\r\n".encode())
    line = await reader.readuntil(b"\r\n")
    writer.close()
    return line


if sys.platform != "linux":
    pytest.skip("only Linux has all of 127.0.0.0/8", allow_module_level=True)
