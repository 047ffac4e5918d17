"""The web app's page is everywhere that nothing else is; what is missing stays missing."""

from pathlib import Path

import pytest

from cadenza.api import web_app
from tests.api.conftest import Place


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<title>Cadenza</title>")
    (tmp_path / "assets" / "app-1a2b.js").write_text("1")
    monkeypatch.setattr(web_app, "UI", tmp_path)
    return tmp_path


@pytest.mark.usefixtures("built")
class TestBuilt:
    @pytest.mark.parametrize("path", ["/", "/sign-in", "/w/home-of-ada/queue"])
    async def test_screens_are_answered_with_the_one_page(self, small: Place, path: str) -> None:
        answer = await (await small.client()).get(path)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")
        assert "Cadenza" in answer.text
        assert "default-src 'self'" in answer.headers["content-security-policy"]

    async def test_hashed_files_are_kept_for_a_year(self, small: Place) -> None:
        answer = await (await small.client()).get("/assets/app-1a2b.js")
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"

    @pytest.mark.parametrize("path", ["/api/v1/nothing", "/assets/gone.js", "/media/x"])
    async def test_what_is_missing_is_no_page(self, small: Place, path: str) -> None:
        answer = await (await small.client()).get(path)
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"


async def test_without_the_app_the_house_says_how_to_build_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starlette.applications import Starlette
    from starlette.testclient import TestClient

    monkeypatch.setattr(web_app, "UI", tmp_path)
    app = Starlette(routes=[web_app.pages_route()])
    answer = TestClient(app).get("/")
    assert answer.status_code == 503
    assert "make web" in answer.text
