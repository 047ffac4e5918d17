"""A private GoToSocial, on SQLite, where `CADENZA_TEST_GOTOSOCIAL` names its program; nothing here builds it.

The `web` folder of its release (templates, assets) must lie beside the program. It runs in a temporary folder, in the
clear on loopback, and ends with the context. People sign in as they do in a browser: by its own pages.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.servers import place
from tests.servers.place import ServerUnavailableError, free_port

SETTING = "CADENZA_TEST_GOTOSOCIAL"
START_SECONDS = 180  # it compiles its SQLite at each start
BACK = "https://cadenza.example/back"
PASSWORD = "A-long-password-of-a-test-1"

_CONFIG = """
host: "localhost:{port}"
protocol: "http"
bind-address: "127.0.0.1"
port: {port}
db-type: "sqlite"
db-address: "{folder}/sqlite.db"
storage-local-base-path: "{folder}/storage"
web-template-base-dir: "{web}/template/"
web-asset-base-dir: "{web}/assets/"
letsencrypt-enabled: false
advanced-rate-limit-requests: 0
advanced-throttling-multiplier: 0
"""


@dataclass
class Browser:
    """Follows nothing by itself, and keeps its cookies."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict[str, str])

    def ask(self, method: str, path: str, form: dict[str, str] | None = None) -> HTTPResponse:
        headers = {"cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
        headers |= {"user-agent": "Mozilla/5.0 (a test)", "accept": "text/html"}
        if form is not None:
            headers["content-type"] = "application/x-www-form-urlencoded"
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, urlencode(form) if form is not None else None, headers)
        response = connection.getresponse()
        response.read()
        for line in response.headers.get_all("set-cookie") or ():
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name.strip()] = value
        connection.close()
        return response


@dataclass(frozen=True, slots=True)
class GoToSocial:
    """A running server."""

    port: int
    program: Path
    config: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def add_person(self, name: str) -> str:
        """Make an account; return the address to sign in with."""
        email = f"{name}@example.org"
        about = ["--username", name, "--email", email, "--password", PASSWORD]
        self._admin("account", "create", *about)
        self._admin("account", "confirm", "--username", name)
        return email

    def approve(self, authorize_url: str, email: str) -> str:
        """Sign in on the server's pages and press the button; return the code that comes back."""
        browser, parts = Browser(self.port), urlsplit(authorize_url)
        browser.ask("GET", f"{parts.path}?{parts.query}")
        browser.ask("POST", "/auth/sign_in", {"username": email, "password": PASSWORD})
        browser.ask("GET", "/oauth/authorize")
        back = browser.ask("POST", "/oauth/authorize", {}).getheader("location") or ""
        assert back.startswith(BACK), back
        return parse_qs(urlsplit(back).query)["code"][0]

    def token(self, email: str, scopes: str = "read write") -> str:
        """Let a client of our own in, for looking at and setting up things."""
        wanted = {"client_name": "Test", "redirect_uris": BACK, "scopes": scopes}
        app = self.call("POST", "/api/v1/apps", wanted)
        query = {"response_type": "code", "client_id": app["client_id"], "redirect_uri": BACK}
        code = self.approve(f"/oauth/authorize?{urlencode({**query, 'scope': scopes})}", email)
        secrets = {"client_id": app["client_id"], "client_secret": app["client_secret"]}
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK, **secrets}
        return self.call("POST", "/oauth/token", form)["access_token"]

    def call(
        self, method: str, path: str, form: dict[str, str] | None = None, token: str = ""
    ) -> Any:
        """Call its API."""
        headers = {"user-agent": "cadenza-test", "accept": "application/json"}
        headers |= {"authorization": f"Bearer {token}"} if token else {}
        if form is not None:
            headers["content-type"] = "application/x-www-form-urlencoded"
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, path, urlencode(form) if form is not None else None, headers)
            response = connection.getresponse()
            body = response.read().decode()
        assert response.status == 200, f"{method} {path}: {response.status} {body[:300]}"
        return json.loads(body)

    def _admin(self, *words: str) -> None:
        command = [self.program, "--config-path", self.config, "admin", *words]
        ran = subprocess.run(
            command, capture_output=True, text=True, timeout=START_SECONDS, check=False
        )
        assert ran.returncode == 0, ran.stdout[-500:] + ran.stderr[-500:]


def find_program() -> Path:
    """Return the program that the setting names."""
    named = os.environ.get(SETTING, "")
    if not named:
        raise ServerUnavailableError(f"{SETTING} names no program")
    program = Path(named).resolve()
    if not os.access(program, os.X_OK) or not (program.parent / "web" / "template").is_dir():
        raise ServerUnavailableError(f"{program} is no GoToSocial with its web folder beside it")
    return program


@contextmanager
def gotosocial() -> Generator[GoToSocial]:
    """Run one."""
    program = find_program()
    folder = place.new_folder("gts")
    port = free_port()
    config = folder / "config.yaml"
    config.write_text(_CONFIG.format(port=port, folder=folder, web=program.parent / "web"))
    log = folder / "log"
    with log.open("wb") as out:
        command = [program, "--config-path", config, "server", "start"]
        process = subprocess.Popen(command, stdout=out, stderr=out, cwd=folder)
    try:
        server = GoToSocial(port, program, config)
        _wait_for(server, process, log)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(server: GoToSocial, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise AssertionError(f"GoToSocial ended at once: {log.read_text()[-800:]}")
        try:
            server.call("GET", "/api/v1/instance")
        except (OSError, AssertionError):
            time.sleep(0.2)
        else:
            return
    raise AssertionError(f"GoToSocial did not answer in time: {log.read_text()[-800:]}")
