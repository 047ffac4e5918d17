"""What another site can make a browser send does nothing here."""

from pathlib import Path

import httpx2
import pytest

from tests.api.conftest import Place, open_place

STOP = "/api/v1/workspaces/home-of-ada/stop"
WHY = {"reason": "because"}


async def _stopped(place: Place) -> bool:
    row = await place.row("SELECT stopped_at FROM workspace WHERE id = 'home-of-ada'")
    assert row is not None
    return row["stopped_at"] is not None


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost.evil.example"},
        {"origin": "https://localhost"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"x-cadenza-csrf": ""},
    ],
)
async def test_a_write_from_elsewhere_is_refused(small: Place, headers: dict[str, str]) -> None:
    browser = await small.client("owner")
    answer = await browser.post(STOP, json=WHY, headers=headers)
    assert answer.status_code == 403, answer.text
    assert not await _stopped(small)


async def test_a_form_or_plain_text_is_refused_even_without_an_origin(small: Place) -> None:
    browser = await small.client("owner")
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = await browser.post(STOP, content=b'{"reason":"x"}', headers={"content-type": kind})
        assert answer.status_code == 415
    assert not await _stopped(small)


async def test_our_own_page_may_write(small: Place) -> None:
    browser = await small.client("owner")
    own = {"origin": "http://localhost", "sec-fetch-site": "same-origin"}
    answer = await browser.post(STOP, json=WHY, headers=own)
    assert answer.status_code == 200
    assert await _stopped(small)


async def test_signing_in_from_another_site_is_refused(small: Place) -> None:
    browser = await small.client()
    answer = await browser.post(
        "/api/v1/auth/sign-in",
        json={"email": "owner@example.org", "password": "x"},
        headers={"origin": "https://evil.example"},
    )
    assert answer.status_code == 403


async def test_with_a_public_address_only_its_host_is_served(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/product.sqlite3"
    async with open_place(address, tmp_path, public_url="https://house.test") as place:
        transport = httpx2.ASGITransport(app=place.app)
        async with httpx2.AsyncClient(transport=transport, base_url="https://house.test") as good:
            answer = await good.get("/api/v1/auth/first-start")
            assert answer.status_code == 200
            assert answer.headers["strict-transport-security"].startswith("max-age=")
        async with httpx2.AsyncClient(transport=transport, base_url="https://evil.test") as bad:
            assert (await bad.get("/api/v1/auth/first-start")).status_code == 421
            assert (await bad.get("/healthz")).status_code == 200
