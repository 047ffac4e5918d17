"""The private Valkey answers, restarts empty, and goes away."""

from __future__ import annotations

import socket
from collections.abc import Callable

from tests.servers.valkey import PrivateValkey


def test_it_answers_on_tcp_and_on_its_socket(valkey: PrivateValkey) -> None:
    with socket.create_connection(("127.0.0.1", valkey.port), timeout=5) as client:
        client.sendall(b"PING\r\n")
        assert client.recv(100) == b"+PONG\r\n"
    assert valkey._ask(b"PING") == b"+PONG"


def test_a_flush_empties_it(private_valkey: Callable[..., PrivateValkey]) -> None:
    server = private_valkey()
    server._ask(b"SET ada 1")
    server.flush()
    assert server._ask(b"EXISTS ada") == b":0"


def test_a_crashed_server_starts_again_at_the_same_address(
    private_valkey: Callable[..., PrivateValkey],
) -> None:
    server = private_valkey()
    url = server.url
    server.crash()
    assert server.pid is None
    server.start()
    assert server.url == url
    assert server._ask(b"PING") == b"+PONG"
