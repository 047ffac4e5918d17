"""The same commands on the local database and over a server with a key: the same answers, the same words."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sqlite3
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cadenza.cli.codes import REFUSED
from cadenza.cli.run import run
from cadenza.demo.draw import draw
from tests.cli.conftest import Said
from tests.cli.test_up import free_port, started

SECRET = "whsec_cmVoZWFyc2FsLXNpZ25pbmcta2V5LW9mLWFkYS0zMmI="
SCOPES = (
    *("accounts:read", "accounts:write", "deliveries:read", "export:read", "media:read"),
    *("media:write", "posts:read", "posts:write", "queue:read", "queue:write", "rules:read"),
    *("rules:write", "system:read", "workspace:read"),
)


@dataclass
class Ada:
    """`ada("post", "list")` is the command here, `ada.remote(…)` the same over the server."""

    capture: pytest.CaptureFixture[str]
    server: str
    key: str

    def __call__(self, *words: str) -> Said:
        self.capture.readouterr()
        code = run(words)
        out, err = self.capture.readouterr()
        return Said(code, out, err)

    def remote(self, *words: str) -> Said:
        return self(*words, "--server", self.server, "--key", self.key)

    def both(self, *words: str) -> Said:
        here, there = self(*words), self.remote(*words)
        assert (here.code, here.out) == (there.code, there.out), (here.err, there.err)
        return there


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str, str]]:
    """A folder with a house and an account in it, a server on it, and a key."""
    folder = tmp_path_factory.mktemp("house")
    with started(folder, "up", "--port", str(free_port())) as (_, said):
        with pytest.MonkeyPatch.context() as clean, contextlib.chdir(folder):
            for name in [name for name in os.environ if name.startswith("CADENZA")]:
                clean.delenv(name)
            succeed(
                "person", "create", "ada@example.org", "Ada", "--password", "four plain words here"
            )
            fields = ("--field", "url=https://hooks.example.org/a", "--field", f"secret={SECRET}")
            succeed("account", "connect", "webhook", *fields)
            scopes = [word for scope in SCOPES for word in ("--scope", scope)]
            made = succeed("key", "make", "afar", "--role", "admin", "--json", *scopes)
        yield folder, said["address"], json.loads(made)["key"]


def succeed(*words: str) -> str:
    """Run a command that must succeed; return what it printed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run(words) == 0
    return out.getvalue()


@pytest.fixture
def ada(
    place: tuple[Path, str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Ada:
    for name in [name for name in os.environ if name.startswith("CADENZA")]:
        monkeypatch.delenv(name)
    folder, server, key = place
    monkeypatch.chdir(folder)
    return Ada(capsys, server, key)


def test_holidays_and_warm_ups_are_set_and_shown(ada: Ada) -> None:
    done = ada.remote("account", "set", "webhook", "--holiday-calendar", "de-by")
    assert "DE-BY" in done.out, done.err
    assert "Christmas Day" in ada.both("account", "holidays", "webhook").out
    day = (datetime.now(UTC) + timedelta(days=40)).strftime("%Y%m%d")
    text = f"BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:{day}\nSUMMARY:Fair\nEND:VEVENT\nEND:VCALENDAR\n"
    Path("fair.ics").write_text(text)
    tried = ada.both("account", "holidays", "webhook", "--ics", "fair.ics", "--dry-run")
    assert "1 would be added" in tried.out
    assert "Fair" in ada("account", "holidays", "webhook", "--ics", "fair.ics").out
    assert "Fair" in ada.both("account", "holidays", "webhook").out
    warm = ada.remote("account", "set", "webhook", "--warm-up", "email=5+2/3")
    assert "email: 5 a day, 2 more after every 3 active days" in warm.out, warm.err
    assert "5 (warm-up)" in ada.both("account", "limits", "webhook").out
    assert ada("account", "set", "webhook", "--no-warm-up").code == 0
    wrong = ada("account", "set", "webhook", "--holiday-calendar", "DE-XX")
    assert wrong.code != 0
    assert "BY" in wrong.err
    assert ada("account", "set", "webhook", "--no-holidays", "--no-holiday-calendars").code == 0


def test_limits_and_hours_are_set_here_and_shown_there(ada: Ada) -> None:
    done = ada("account", "limit", "webhook", "post", "day=10", "gap=15m", "rate=5/60s")
    assert done.code == 0, done.err
    shown = ada.both("account", "limits", "webhook").out
    assert "at least 900 s between two" in shown
    assert "5 in 60 s" in shown
    tried = ada.remote("account", "limit", "webhook", "post", "day=none", "--dry-run")
    assert "10 per day" not in tried.out
    assert "10 per day" in ada.both("account", "limits", "webhook").out
    kept = ada.remote("account", "limit", "webhook", "post", "day=none", "rate=none", "--json").data
    posts = [each["kind"] for each in kept["limits"] if each["action"] == "post"]
    assert posts == ["gap"]
    hours = ("--hours", "post=09:00-17:30@mon-fri", "--holiday", "2031-12-25")
    assert ada.remote("account", "set", "webhook", "--zone", "Europe/Berlin", *hours).code == 0
    told = ada.both("account", "show", "webhook").out
    assert "post: 09:00-17:30 Mon, Tue, Wed, Thu, Fri" in told
    assert "2031-12-25" in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("limit", "webhook", "post", "dya=10"), "Did you mean 'day'?"),
        (("limit", "webhook", "post", "gap=soon"), "15m"),
        (("limit", "webhook", "post"), "day=10"),
        (("set", "webhook", "--hours", "post=nine"), "post=09:00-17:00@mon-fri"),
        (("set", "webhook", "--hours", "post=09:00-10:00@moonday"), "Did you mean 'monday'?"),
        (("set", "webhook"), "say what to change"),
    ],
)
def test_what_is_no_limit_is_told_with_what_to_write(
    ada: Ada, words: tuple[str, ...], message: str
) -> None:
    wrong = ada("account", *words)
    assert (wrong.code, message in wrong.err) == (2, True), wrong.err
    nobody = ada("account", "limits", "webhok")  # it might be there: refused, not used wrongly
    assert (nobody.code, "Did you mean 'webhook'?" in nobody.err) == (1, True)


def test_media_and_categories_are_kept_from_afar(ada: Ada, tmp_path: Path) -> None:
    picture = tmp_path / "shop.png"
    picture.write_bytes(draw("noon"))
    made = ada.remote("category", "create", "Openings", "--copy", "We open.", "--hashtag", "shop")
    assert made.code == 0, made.err
    sent = ada.remote("media", "upload", str(picture), "--alt", "a shop", "--category", "Openings")
    assert sent.code == 0, sent.err
    assert "it was there already" in ada("media", "upload", str(picture)).out
    assert "a shop" in ada.both("media", "list").out
    (asset,) = ada.both("category", "show", "Openings", "--json").data["pool"]
    assert ada.both("media", "show", asset["media_id"]).code == 0
    assert ada.remote("media", "describe", "shop.png", "a bakery").code == 0
    copy = tmp_path / "copy.png"
    assert ada.remote("media", "download", "shop.png", str(copy)).code == 0
    assert copy.read_bytes() == picture.read_bytes()
    again = ada.remote("media", "download", "shop.png", str(copy))
    assert (again.code, "is there already" in again.err) == (1, True)
    assert (
        ada.remote("category", "edit", "Openings", "--name", "Doors", "--variable", "a=b").code == 0
    )
    assert "Doors" in ada.both("category", "list").out
    assert ada.remote("category", "fill", "Doors", "--only").code == 0
    assert ada.remote("category", "delete", "Doors").code == 0
    assert ada.remote("media", "delete", "shop.png").code == 0
    assert "empty" in ada.both("media", "list").out


def test_files_of_posts_and_of_the_whole_travel(ada: Ada, tmp_path: Path) -> None:
    file = tmp_path / "posts.csv"
    file.write_text("text;colour\nHello from afar;red\n")
    tried = ada.remote("post", "import", str(file), "--dry-run")
    assert "1 post to be made" in tried.out
    assert "'colour' means nothing here" in tried.out
    assert "1 post made; 0 there already" in ada.remote("post", "import", str(file)).out
    assert "0 posts made; 1 there already" in ada("post", "import", str(file)).out
    assert "Hello from afar" in ada.both("post", "list").out
    for command in ("export", "bundle"):
        for way in (ada, ada.remote):
            packed = tmp_path / f"{command}-{way is ada}.zip"
            done = way(command, str(packed), "--json")
            assert done.code == 0, done.err
            assert done.data["bytes"] == packed.stat().st_size
    with zipfile.ZipFile(tmp_path / "export-False.zip") as whole:
        assert b"Hello from afar" in whole.read("posts.csv")
    with zipfile.ZipFile(tmp_path / "bundle-False.zip") as whole:
        assert b"Hello from afar" not in b"".join(map(whole.read, whole.namelist()))


def test_what_to_know_of_imported_rows_is_printed(ada: Ada, tmp_path: Path) -> None:
    account = ada("account", "list", "--json").data[0]["id"]
    day = (datetime.now(UTC) + timedelta(days=3)).strftime("%Y-%m-%d")
    rows = [f"{n},Twice,{account},{day} {n + 9:02}:00" for n in range(3)]
    file = tmp_path / "posts.csv"
    file.write_text("\n".join(["key,text,accounts,when", *rows]))
    told = ada.remote("post", "import", str(file), "--dry-run").out
    assert "\nrows 2, 3, 4: no person saved it: it waits for one\n" in told
    assert re.findall(r"^row (\d): the same words", told, re.MULTILINE) == ["3", "4"], told


def test_a_queue_is_used_from_afar(ada: Ada) -> None:
    assert ada.remote("queue", "schedule", "webhook", "--slot", "monday=09:00").code == 0
    made = ada.remote("post", "create", "Hello", "--queue", "webhook", "--json").data
    assert made["queue"]["answers"][0]["outcome"] == "queued"
    for words in (("queue", "schedule", "webhook"), ("post", "show", made["post"]["id"])):
        assert ada.both(*words, "--json").code == 0
    assert ada.both("account", "check").code == 0
    assert ada.both("rule", "list").code == 0


def test_the_house_is_examined_from_afar(ada: Ada) -> None:
    assert ada.both("limits", "audit").code == 0
    told = ada.remote("doctor", "--json").data
    assert (len(told["workers"]), told["warnings"]) == (1, [])
    assert "all is well" in ada.remote("doctor").out


def test_what_a_key_may_not_do_is_told_with_the_way_out(ada: Ada) -> None:
    refused = ada.remote("key", "list")
    assert refused.code == 1
    assert "cadenza key make NAME --scope" in refused.err
    wrong = ada("post", "list", "--server", "cadenza.example", "--key", ada.key)
    assert "write https://cadenza.example" in wrong.err
    gone = ada("post", "list", "--server", ada.server, "--key", "cad_no_key")
    assert (gone.code, "unknown" in gone.err) == (1, True)


def test_an_empty_address_is_no_server(ada: Ada, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CADENZA_SERVER", "")
    for words in (("post", "list"), ("jobs", "list"), ("doctor", "--json")):
        assert ada(*words).code == 0


def test_an_account_is_let_go_only_when_one_says_yes(ada: Ada) -> None:
    assert "say --yes" in ada.both("account", "disconnect", "webhook").out
    assert ada("account", "show", "webhook", "--json").data["state"] == "connected"


def test_a_post_that_its_channel_refuses_is_not_sent_and_the_reason_is_told(
    ada: Ada, place: tuple[Path, str, str]
) -> None:
    """The account is one of Bluesky for a while: 408 characters are too many there."""
    (database,) = place[0].rglob("cadenza.sqlite3")
    change = "UPDATE account SET provider = ? WHERE provider = ?"
    with contextlib.closing(sqlite3.connect(database)) as file, file:
        file.execute(change, ("bluesky", "webhook"))
    try:
        post = ada("post", "create", "bread " * 68, "--quiet").out.strip()
        account = ada("account", "list", "--quiet").out.strip().splitlines()[0]
        at = (datetime.now(UTC) + timedelta(days=1)).isoformat(timespec="minutes")
        schedule = ("post", "schedule", post, at, account)
        for said in (
            ada(*schedule),
            ada.remote(*schedule),
            ada("post", "publish-now", post, account),
        ):
            assert said.code == REFUSED, said
            assert "300" in said.err, said
    finally:
        with contextlib.closing(sqlite3.connect(database)) as file, file:
            file.execute(change, ("webhook", "bluesky"))
