"""What people do from the command line, as commands on a local database of their own."""

from __future__ import annotations

import json
import os
import sqlite3
import zipfile
from pathlib import Path

import pytest

from cadenza.cli.run import run
from tests.cli.conftest import Said

SECRET = "whsec_cmVoZWFyc2FsLXNpZ25pbmcta2V5LW9mLWFkYS0zMmI="


class Ada:
    """`ada("post", "list")` is `cadenza post list` in her folder."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *words: str) -> Said:
        self._capture.readouterr()
        code = run(words)
        out, err = self._capture.readouterr()
        return Said(code, out, err)


@pytest.fixture
def ada(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ada:
    for name in [name for name in os.environ if name.startswith("CADENZA")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    ada = Ada(capsys)
    made = ada("person", "create", "ada@example.org", "Ada", "--password", "four plain words here")
    assert made.code == 0, made.err
    return ada


def test_a_post_goes_from_words_to_a_slot_and_back(ada: Ada) -> None:
    url = "https://hooks.example.org/ada"
    fields = ("--field", f"url={url}", "--field", f"secret={SECRET}")
    connected = ada("account", "connect", "webhook", *fields)
    assert connected.code == 0, connected.err
    week = ada(
        "queue", "schedule", "webhook", "--slot", "monday=09:00,17:30", "--slot", "fri=12:00"
    )
    assert week.code == 0, week.err
    assert "17:30" in ada("queue", "schedule", "webhook").out
    made = ada("post", "create", "hello", "--queue", "webhook", "--json")
    assert made.code == 0, made.err
    post = made.data["post"]["id"]
    assert made.data["queue"]["answers"][0]["outcome"] == "queued"
    shown = ada("queue", "show", "webhook")
    assert "hello" in shown.out
    (pill,) = ada("post", "show", post, "--json").data["pills"]
    explained = ada("explain", pill["delivery_id"])
    assert "nothing else stands in its way" in explained.out
    then = ada("explain", pill["delivery_id"], "--at", "2999-01-01T09:00+01:00")
    assert "judged as of" in then.out
    assert "2999-01-01" in then.out
    assert ada("explain", pill["delivery_id"], "--at", "2001-01-01T09:00+01:00").code == 2
    assert ada("queue", "pause", "webhook", "--reason", "the fair").code == 0
    assert "the fair" in ada("account", "list").out
    assert ada("account", "check").code == 1
    assert ada("queue", "resume", "webhook").code == 0
    assert "canceled: 1" in ada("post", "cancel", post).out
    again = ada("queue", "add", post, "webhook")
    assert again.code == 0, again.err
    cleared = ada("queue", "clear", "webhook", "--json").data
    assert len(cleared["canceled"]) == 1
    assert ada("queue", "undo", cleared["clear_id"]).code == 0


def test_an_unconfirmed_send_is_explained_and_decided_by_the_try_that_was_looked_at(
    ada: Ada,
) -> None:
    fields = ("--field", "url=https://hooks.example.org/ada", "--field", f"secret={SECRET}")
    assert ada("account", "connect", "webhook", *fields).code == 0
    post = ada("post", "create", "perhaps", "--json").data["id"]
    at = "2031-03-30T09:00:00+02:00"
    assert ada("post", "schedule", post, at, "webhook").code == 0
    (pill,) = ada("post", "show", post, "--json").data["pills"]
    id_ = pill["delivery_id"]
    nothing = ada("decide", id_, "--fence", "0", "--there")
    assert (nothing.code, "no doubt" in nothing.err) == (1, True)
    _leave_unconfirmed(id_)
    told = ada("explain", id_).out
    assert f"cadenza decide {id_} --fence 3 --there" in told
    stale = ada("decide", id_, "--fence", "2", "--there")
    assert (stale.code, "tried again since you looked" in stale.err) == (1, True)
    decided = ada("decide", id_, "--fence", "3", "--there")
    assert (decided.code, decided.out.strip()) == (0, "it is kept as sent")


def test_what_was_said_with_the_network_is_printed_when_asked_for(ada: Ada) -> None:
    fields = ("--field", "url=https://hooks.example.org/ada", "--field", f"secret={SECRET}")
    assert ada("account", "connect", "webhook", *fields).code == 0
    post = ada("post", "create", "perhaps", "--json").data["id"]
    assert ada("post", "schedule", post, "2031-03-30T09:00:00+02:00", "webhook").code == 0
    (pill,) = ada("post", "show", post, "--json").data["pills"]
    id_ = pill["delivery_id"]
    assert "is not kept, or no longer" in ada("explain", id_, "--said").out
    _leave_unconfirmed(id_)
    _say(id_)
    told = ada("explain", id_, "--said").out
    assert "It may have arrived, but no answer came." in told
    assert "POST https://hooks.example.org/[secret]" in told
    assert "> authorization: [hidden]" in told
    assert "< 503 after 0.2 s" in told
    assert "POST https" not in ada("explain", id_).out
    (exchange,) = ada("explain", id_, "--said", "--json").data["exchanges"]
    assert exchange["status"] == 503


def _say(id_: str) -> None:
    said = {
        "seconds": 0.2,
        "method": "POST",
        "place": "https://hooks.example.org/[secret]",
        "headers": {"authorization": "[hidden]"},
        "body": "{}",
        "status": 503,
        "reply_headers": {},
        "reply": "busy",
        "message": "",
        "left_out": 0,
    }
    with sqlite3.connect("cadenza-data/cadenza.sqlite3") as database:
        database.execute(
            """
            INSERT INTO exchange (workspace_id, id, delivery_id, attempt_id, step, began_at, told)
            SELECT workspace_id, 'e1', id, 'a1', 'publish', 1, ? FROM delivery WHERE id = ?
            """,
            (json.dumps(said), id_),
        )
    database.close()


def _leave_unconfirmed(id_: str) -> None:
    """Call it, as a worker that heard nothing: by hand, as none runs here."""
    with sqlite3.connect("cadenza-data/cadenza.sqlite3") as database:
        database.execute(
            """
            INSERT INTO attempt (
                workspace_id, id, delivery_id, number, part, lease, key, content_hash, began_at, deadline_at
            ) SELECT workspace_id, 'a1', id, 1, 0, 3, 'k', 'h', 1, 1 FROM delivery WHERE id = ?
            """,
            (id_,),
        )
        database.execute(
            "UPDATE delivery SET state = 'unconfirmed', lease = 3 WHERE id = ?", (id_,)
        )
    database.close()


def test_what_is_wrong_is_told_in_a_line_with_a_guess(ada: Ada) -> None:
    refused = ada("account", "connect", "mastodn")
    assert refused.code == 2
    assert "Did you mean 'mastodon'?" in refused.err
    assert "Traceback" not in refused.err
    assert ada("queue", "show", "nowhere").code == 1
    silent, someday = ada("post", "create", " "), ada("queue", "schedule", "x", "--slot", "someday")
    assert (silent.code, someday.code) == (2, 2)
    assert "says something" in silent.err
    assert "no day and times" in someday.err
    server = ada("post", "list", "--server", "http://127.0.0.1:9")
    assert "API key" in server.err
    away = ada("post", "list", "--server", "http://127.0.0.1:9", "--key", "k", "--workspace", "w")
    assert away.code == 3
    assert "nobody answers" in away.err


def test_a_second_workspace_is_made_and_named_from_then_on(ada: Ada) -> None:
    made = ada("workspace", "create", "Second brand", "--zone", "Europe/Berlin")
    assert made.code == 0, made.err
    assert "Second brand" in ada("workspace", "list").out
    both = ada("post", "list")
    assert both.code == 1
    assert "name a workspace with --workspace" in both.err
    assert ada("post", "create", "only here", "--workspace", "Second brand").code == 0
    assert "only here" in ada("post", "list", "--workspace", "Second brand").out
    first = next(
        each["id"]
        for each in ada("workspace", "list", "--json").data
        if each["name"] != "Second brand"
    )
    assert "only here" not in ada("post", "list", "--workspace", first).out
    wrong = ada("workspace", "create", "Third", "--zone", "Berlin")
    assert wrong.code == 2
    assert "zone" in wrong.err


def test_a_key_is_made_shown_once_and_revoked(ada: Ada) -> None:
    made = ada("key", "make", "ci", "--json").data
    assert made["key"].startswith("cad_")
    assert made["key"] not in ada("key", "list").out
    assert ada("key", "revoke", made["shown"]["id"]).code == 0
    assert ada("key", "list", "--json").data[0]["revoked_at"] is not None
    typo = ada("key", "make", "ci", "--scope", "posts:raed")
    assert typo.code == 2
    assert typo.err.startswith(
        "cadenza: scopes: 'posts:raed' is no scope. Did you mean 'posts:read'? There are accounts:read,"
    )
    assert typo.err.count("\n") == 1


def test_a_file_is_imported_once_and_a_workspace_exported(ada: Ada, tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text("text\nHello from a file\n")
    assert "1 post to be made" in ada("post", "import", "posts.csv", "--dry-run").out
    assert "1 post made" in ada("post", "import", "posts.csv").out
    assert "0 posts made; 1 there already" in ada("post", "import", "posts.csv").out
    assert ada("export", "all.zip").code == 0
    with zipfile.ZipFile(tmp_path / "all.zip") as packed:
        assert b"Hello from a file" in packed.read("posts.csv")
    assert ada("export", "all.zip").code == 1  # it is not written over


def test_a_bundle_holds_no_texts_and_no_secrets(ada: Ada, tmp_path: Path) -> None:
    ada("post", "create", "a word that is nobody's business")
    made = ada("bundle", "help.zip")
    assert made.code == 0, made.err
    with zipfile.ZipFile(tmp_path / "help.zip") as packed:
        whole = b"".join(packed.read(name) for name in packed.namelist())
    assert b"nobody's business" not in whole
    assert b"ada@example.org" not in whole
    assert b"tz" in whole


def test_the_second_owner_is_refused_and_people_are_listed(ada: Ada) -> None:
    second = ada(
        "person", "create", "ben@example.org", "Ben", "--password", "some plain words here"
    )
    assert second.code == 1
    assert "has an owner already" in second.err
    assert "ada@example.org" in ada("person", "list").out


def test_people_are_invited_and_get_new_passwords_by_links_that_are_printed(ada: Ada) -> None:
    invited = ada("person", "invite", "ben@example.org", "--role", "viewer")
    assert invited.code == 0, invited.err
    assert "/join#token=" in invited.out
    refused = ada("person", "invite", "ben@example.org", "--role", "king")
    assert refused.code == 2
    assert "'king' is none of viewer, editor, admin, owner." in refused.err
    typo = ada("person", "invite", "ben.example.org")
    assert (typo.code, typo.err) == (2, "cadenza: email: it is no e-mail address\n")
    reset = ada("person", "reset", "Ada@example.org")
    assert reset.code == 0, reset.err
    assert "/reset-password#token=" in reset.out
    assert "nobody with the address ben" in ada("person", "reset", "ben@example.org").err


def test_doctor_finds_the_products_database_by_itself(ada: Ada) -> None:
    found = ada("doctor")
    assert "there is no store" not in found.err
    assert found.code in (0, 1)
