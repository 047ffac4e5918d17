"""The client without an event loop, over a real server in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from cadenza.client import NotFound, SyncWorkspace, connect_sync
from tests.cli.test_up import free_port, started

CSRF = {"x-cadenza-csrf": "1"}


@pytest.fixture
def there(tmp_path: Path) -> Iterator[SyncWorkspace]:
    with started(tmp_path, "up", "--port", str(free_port())) as (_, said):
        with httpx2.Client(base_url=f"{said['address']}/api/v1", headers=CSRF) as browser:
            owner = {
                "token": said["first_start"].partition("token=")[2],
                "email": "ada@example.org",
                "name": "Ada",
                "password": "four plain words here",
                "workspace": "Home",
            }
            home = browser.post("/auth/first-start", json=owner).json()["workspace_id"]
            scopes = ["posts:read", "posts:write", "events:read", "export:read"]
            requested = {"name": "ci", "role": "admin", "scopes": scopes}
            key = browser.post(f"/workspaces/{home}/keys", json=requested).json()["key"]
        with connect_sync(said["address"], key=key) as client:
            yield client.home()


def test_everything_goes_without_a_loop(there: SyncWorkspace) -> None:
    for number in range(3):
        there.posts.create(text=f"post {number}")
    assert len(list(there.posts.list(limit=2))) == 3
    with pytest.raises(NotFound):
        there.posts.show("nobody")
    assert b"".join(there.exports.export()).startswith(b"PK")
    report = there.imports.import_posts(("posts.csv", b"text\nOne more\n"), dry_run=True)
    assert (report["made"], report["dry_run"]) == (1, True)
    events = there.events.follow(last="1000000.0")  # from the beginning of time
    assert next(iter(events)).kind
