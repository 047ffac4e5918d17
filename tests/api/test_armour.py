"""The headers of every answer, whatever was asked and however it ended, to the letter."""

from pathlib import Path

import httpx2
import pytest

from cadenza.api import web_app
from cadenza.api.app import create_app
from tests.api.conftest import Place, open_place
from tests.api.test_walk import LAST, UNENDING, ask, ids_of, walked
from tests.api.walk import Unknown

CSP = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
ARMOUR = {
    "content-security-policy": CSP,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
TALKATIVE = (
    "server",
    "x-powered-by",
    "access-control-allow-origin",
    "access-control-allow-methods",
)


def wears(answer: httpx2.Response) -> dict[str, str | None]:
    return {name: answer.headers.get(name) for name in ARMOUR}


async def test_every_answer_wears_its_armour(small: Place) -> None:
    browser, nobody = await small.client("owner"), await small.client()
    for step in walked(small):
        if step.path in UNENDING or step.path in LAST:
            continue
        for asking in (browser, nobody):
            answer = await ask(asking, step, Unknown(ids_of(small, "ada")))
            # Recipients open these, and their buttons post to where they came from.
            page = step.path.startswith(("/u/", "/f/"))
            expected = ARMOUR | {"referrer-policy": "same-origin"} if page else ARMOUR
            assert wears(answer) == expected, step.name
            assert answer.headers["x-request-id"], step.name
            assert not [name for name in TALKATIVE if name in answer.headers], step.name
            assert answer.status_code < 500, (step.name, answer.text)
            assert ("html" in answer.headers.get("content-type", "")) == page, step.name
            if step.path.startswith("/api/"):
                assert answer.headers["cache-control"] in ("no-store", "no-cache"), step.name


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        ("/settings", 200),
        ("/assets/app.js", 200),
        ("/assets/nowhere.js", 404),
        ("/api/nowhere", 404),
        ("/api/v1/me%00", 400),
        ("/media/public/x/y.png", 404),
    ],
)
async def test_pages_and_refusals_wear_it_too(
    small: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, status: int
) -> None:
    folder = tmp_path / "ui"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Cadenza</title>")
    (folder / "assets" / "app.js").write_text("1")
    monkeypatch.setattr(web_app, "UI", folder)
    small.app = create_app(small.runtime, stop=small.stop)
    answer = await (await small.client()).get(path)
    assert answer.status_code == status
    assert wears(answer) == ARMOUR


async def test_over_https_browsers_are_told_to_stay_there(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/product.sqlite3"
    async with open_place(address, tmp_path, public_url="https://house.test") as place:
        transport = httpx2.ASGITransport(app=place.app)
        async with httpx2.AsyncClient(transport=transport, base_url="https://house.test") as good:
            for path in ("/healthz", "/api/v1/me", "/nowhere"):
                answer = await good.get(path)
                said = answer.headers["strict-transport-security"]
                assert said == "max-age=31536000; includeSubDomains"


async def test_another_site_is_given_no_leave_to_read(small: Place) -> None:
    browser = await small.client("owner", origin="https://evil.example")
    requested = {"access-control-request-method": "GET"}
    for answer in (
        await browser.get("/api/v1/me"),
        await browser.options("/api/v1/me", headers=requested),
    ):
        assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("localhost:8400", 200),
        ("127.0.0.1:8400", 200),
        ("192.0.2.7", 200),
        ("[::1]:8400", 200),
        ("[2001:db8::1]", 200),
        ("box", 200),
        ("box:8400", 200),
        ("app.localhost:8400", 200),
        ("evil.example", 421),
        ("evil.example:8400", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example", 421),
        ("evil.example.", 421),
    ],
)
async def test_without_a_public_address_no_strangers_name_is_answered(
    small: Place, host: str, status: int
) -> None:
    browser = await small.client("owner")
    answer = await browser.get("/api/v1/me", headers={"host": host})
    assert answer.status_code == status, answer.text
    assert (await browser.get("/healthz", headers={"host": host})).status_code == 200
