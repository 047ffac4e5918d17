"""What the code must not do, however handy: run data, read objects from bytes, or speak past the guards.

Read from the syntax trees, not from texts, so that an alias does not hide an import.
"""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.repository.sources import PACKAGE, ROOT, modules

# Formats that make objects or code of bytes; templates that are programs; parsers that fetch.
NEVER = frozenset(
    {
        *("pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "jsonpickle", "joblib"),
        *("yaml", "ruamel", "jinja2", "mako", "xml", "lxml", "code", "codeop", "imp"),
        *("telnetlib", "ftplib", "smtplib", "xmlrpc", "wsgiref"),
    }
)
CALLS = frozenset({"eval", "exec", "compile", "__import__"})
# The networks of this package, and what whoever starts a worker names on the command line.
LOADERS = {
    ("bootstrap/find_copywriter.py", "name"),  # of the settings, by whoever runs the application
    ("providers/registry.py", "f'{providers.__name__}.{name}'"),
    ("cli/worker.py", "module_name"),
    ("api/resources.py", "f'cadenza.api.{module}'"),  # of the list of resources there
    (
        "core/lazy.py",
        "f'{package}.{homes[name]}'",
    ),  # of a table that the package itself writes down
}
WRITERS_OF_TOOLS = frozenset({"api/write_client.py"})  # formats what it generates, in a checkout


# Libraries that call out, and calls by which the rest of Python does. Databases have drivers of their own.
CALLERS = frozenset(
    {
        *("aiodns", "aiohttp", "aiosmtplib", "anyio", "asyncssh", "dns", "http.client", "httpcore"),
        *("httpcore2", "httplib2", "httpx", "httpx2", "imaplib", "logging.handlers", "niquests"),
        *("multiprocessing.connection", "nntplib", "paramiko", "poplib", "pycurl", "requests"),
        *("socket", "_socket", "socketserver", "socks", "telethon", "trio", "urllib.request"),
        *("urllib.robotparser", "urllib3", "websocket", "websockets", "asyncio.streams"),
        *("fastapi.testclient", "starlette.testclient"),
    }
)
CALLING = frozenset(
    {
        *("open_connection", "open_unix_connection", "create_connection", "create_unix_connection"),
        *("create_datagram_endpoint", "sock_connect", "sock_sendto", "connect_tcp", "getaddrinfo"),
        *("getnameinfo", "gethostbyname", "urlopen"),
    }
)
# The door itself, and who has a reason not to go through it.
AT_THE_DOOR = {
    **dict.fromkeys(
        ("client", "encode", "parse_target", "redirects"), "reads, writes and sends for the door"
    ),
    "connect": "the door",
    "resolve": "the look-up",
}
PAST_THE_DOOR = {
    "cli/local.py": "speaks to the API in its own process, by no wire",
    "cli/local_server.py": "speaks to the server beside it, by the socket in the data folder alone",
    "client/core.py": "in its user's process, to the address that its user gives",
    "client/core_sync.py": "in its user's process, to the address that its user gives",
    "client/wire.py": "in its user's process, to the address that its user gives",
    "core/ids.py": "asks for the machine's name",
    "demo/simulator/connection.py": "a simulated network: resets what called it",
    "demo/networks/smtp_wire.py": "a simulated network: resets what called it",
    "inbox/imap.py": "speaks IMAP on a socket of the door's",
    "providers/smtp/session.py": "speaks SMTP on a socket of the door's",
    "providers/telegram_person/auth.py": "works out the proof of a password; the port sends it",
    "providers/telegram_person/port.py": "speaks MTProto on a socket of the door's",
}


def imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def test_no_object_and_no_code_is_made_of_bytes() -> None:
    found = {
        (module.name, name)
        for module in modules()
        for name in imports(module.tree)
        if name.partition(".")[0] in NEVER
    }
    found |= {
        (module.name, name)
        for module in modules()
        for name, _ in calls(module.tree)
        if name in CALLS
    }
    assert found == set()


def test_no_module_is_loaded_by_a_name_that_came_with_data() -> None:
    found = {
        (module.name, ast.unparse(call.args[0]))
        for module in modules()
        for name, call in calls(module.tree)
        if name.endswith("import_module") and not isinstance(call.args[0], ast.Constant)
    }
    assert found == LOADERS


def speaks(tree: ast.Module) -> Iterator[str]:
    """Name what a module could call out with: imported, loaded by name, or reached through something else."""
    loaded = (
        str(call.args[0].value)
        for name, call in calls(tree)
        if name.endswith("import_module") and isinstance(call.args[0], ast.Constant)
    )
    for name in (*imports(tree), *loaded):
        parts = name.split(".")
        known = any(".".join(parts[:n]) in CALLERS for n in range(1, len(parts) + 1))
        if known or parts[-1] in CALLING:
            yield name
    yield from (name for name, _ in calls(tree) if name.rpartition(".")[2] in CALLING)


def test_nothing_calls_out_past_the_guarded_door() -> None:
    found = {module.name for module in modules() if list(speaks(module.tree))}
    assert found == {f"providers/http/{name}.py" for name in AT_THE_DOOR} | set(PAST_THE_DOOR)


@pytest.mark.parametrize(
    "way",
    [
        "import httpx2 as h",
        "from httpx2 import get",
        "def f():\n    import http.client",
        "from http import client",
        "from urllib import request",
        "from importlib import import_module\nimport_module('httpx2')",
        "import importlib\nimportlib.import_module('urllib.request')",
        "import anyio",
        "backend.connect_tcp('h', 80)",
        "from asyncio import open_connection as o",
        "loop.create_connection(P, 'h', 80)",
        "loop.sock_connect(s, a)",
        "import asyncio.streams",
        "from aiosmtplib import SMTP",
        "import logging.handlers",
        "from starlette.testclient import TestClient",
        "import socket as s",
    ],
)
def test_a_way_around_the_door_is_seen(way: str) -> None:
    assert list(speaks(ast.parse(way)))


def test_no_shell_is_started() -> None:
    for module in modules():
        for name, call in calls(module.tree):
            assert name not in {"os.system", "os.popen"}, module.name
            for given in call.keywords:
                assert given.arg != "shell", module.name
            if name.startswith("subprocess."):
                assert module.name in WRITERS_OF_TOOLS, f"{module.name} starts a process"


def test_certificates_are_always_checked() -> None:
    words = ("CERT_NONE", "_create_unverified_context", "check_hostname = False", "verify=False")
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not [word for word in words if word in text], path


def test_mails_are_written_with_what_refuses_two_lines_in_a_header() -> None:
    found = {
        module.name
        for module in modules()
        for name in imports(module.tree)
        if name.startswith("email.mime") and not module.name.startswith("demo/")
    }
    assert found == set()


def test_the_web_app_makes_no_code_and_no_markup_of_texts() -> None:
    words = re.compile(
        r"dangerouslySetInnerHTML|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write|"
        r"\beval\(|new Function\(|javascript:|allow-scripts|postMessage\(.*\*"
    )
    for path in (ROOT / "web" / "src").rglob("*.ts*"):
        text = path.read_text(encoding="utf-8")
        assert not words.search(text), path
        assert text.count("srcDoc=") <= text.count("sandbox="), f"{path}: a frame without a sandbox"
    page = (ROOT / "web" / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == [], (
        "the policy allows no script in a page"
    )
    assert re.findall(r"\son\w+=", page) == []
