"""A file is fetched from its address into the library: bounded, checked, and never from a private network."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cadenza.api import media
from cadenza.config.model import Outbound
from cadenza.demo.draw import draw
from tests.api.conftest import Place, open_place

API = "/api/v1/workspaces/home-of-ada/media/fetch"


class Files(BaseHTTPRequestHandler):
    """A site with a picture, a page and a way on to a private address."""

    def do_GET(self) -> None:
        if self.path == "/onward":
            self.send_response(302)
            self.send_header("location", "http://127.0.0.1:9/secret.png")
            self.end_headers()
            return
        body = draw("harbour") if ".png" in self.path else b"<html>no file</html>"
        self.send_response(404 if self.path == "/gone.png" else 200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Say nothing."""


@pytest.fixture
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Files) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


async def test_a_file_is_fetched_and_what_is_none_is_refused(
    site: str, sqlite_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_place(sqlite_database, tmp_path, outbound=Outbound(allow=(site,))) as place:
        ada = await place.client("editor")
        body = {"url": f"http://{site}/shop%20window.png?x=1", "alt": "A window"}
        first = await ada.post(API, json=body, headers={"idempotency-key": "a" * 20})
        assert first.status_code == 201, first.text
        made = first.json()
        assert (made["kind"], made["name"], made["alt"]) == ("image", "shop window.png", "A window")
        again = await ada.post(API, json=body, headers={"idempotency-key": "a" * 20})
        assert again.json()["id"] == made["id"]
        for path in ("/page.html", "/gone.png", "/onward"):
            answer = await ada.post(API, json={"url": f"http://{site}{path}"})
            assert answer.status_code == 422, (path, answer.text)
        monkeypatch.setattr(media, "MOST_FETCHED", 1_000)
        answer = await ada.post(API, json={"url": f"http://{site}/large.png"})
        assert (answer.status_code, "larger than allowed" in answer.text) == (422, True)


async def test_private_addresses_are_never_asked(small: Place, site: str) -> None:
    ada = await small.client("editor")
    for url in (f"http://{site}/shop.png", "http://169.254.169.254/latest", "file:///etc/passwd"):
        answer = await ada.post(API, json={"url": url})
        assert answer.status_code == 422
        assert "refused" not in answer.text
