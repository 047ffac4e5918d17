"""The command line leaves with a telling code, starts quickly, and never shows a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from inspect import Parameter, signature
from pathlib import Path

import pytest
from cyclopts import App

from cadenza.cli.run import make_app
from tests.cli.conftest import Shell

SLOW = ("asyncpg", "sqlite3", "msgspec", "structlog", "prometheus_client", "cadenza.engine")


def test_help_names_every_group(shell: Shell) -> None:
    said = shell("--help")
    assert said.code == 0
    assert all(group in said.out for group in ("jobs", "worker", "cron", "doctor", "completion"))


def test_help_loads_no_group() -> None:
    script = "import sys; from cadenza.cli.run import run; run(['--help']); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & set(SLOW)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("jobs shw", 'Unknown command "shw". Did you mean "show"? (`cadenza jobs --help`'),
        ("jobs show Ada", "ID: 'Ada' is no whole number"),
        ("jobs list --state faild", "'faild' is none of waiting, running, done, failed, canceled."),
        ("jobs list --state faild", "Did you mean 'failed'?"),
        ("jobs list there", "too many words: there"),
        ("jobs list --queue", "--queue wants something behind it"),
        ("jobs retry", "name at least one job by its number: cadenza jobs retry 17"),
        ("jobs limit mail --concurrency 0", "--concurrency: it is at least 1"),
        ("jobs enqueue greet --delay soon", "no span of time: write 90s, 15m or 1h30m"),
        ("queue pause", "ACCOUNT is missing: write cadenza queue pause ACCOUNT --reason REASON"),
        ("decide one", "--fence is missing: write cadenza decide DELIVERY --fence FENCE --there"),
        ("post list --most 0", "--most: it is at least 1"),
        ("post list --server there", "write https://there (or http://, if it is so)"),
        ("post list --server http://there", "a server wants an API key: give --key"),
        ("cron preview @daily --count 0", "--count: it is at least 1"),
        ("cron preview @daily --after soon", "'soon' is no time: write 2030-03-01T09:00"),
        ("simulate --port 99999", "a port is at most 65535, and 0 takes any free one"),
    ],
)
def test_a_wrong_use_is_put_right_in_one_line_with_code_2(
    line: str, message: str, shell: Shell, tmp_path: Path
) -> None:
    said = shell(*line.split())
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("cadenza: ")
    assert said.err.count("\n") == 1
    assert message in said.err
    assert not list(tmp_path.iterdir())


def _commands(app: App, *words: str) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Every command, and whether it needs words of its own."""
    for name in app:
        if name.startswith("-"):
            continue
        child = app[name]
        if child.default_command is not None:
            needs = [
                each
                for each in signature(child.default_command).parameters.values()
                if each.default is Parameter.empty and each.kind is not Parameter.VAR_POSITIONAL
            ]
            yield (*words, name), bool(needs)
        yield from _commands(child, *words, name)


def test_every_command_tells_wrong_words_alike_and_changes_nothing(
    shell: Shell, tmp_path: Path
) -> None:
    seen = 0
    for words, needs in _commands(make_app()):
        seen += 1
        tries = [(*words, "--nosuch"), *([words] if needs else [])]
        for said in (shell(*each) for each in tries):
            assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), f"{words}: {said}"
            assert said.err.startswith("cadenza: "), words
            assert f"cadenza {' '.join(words)} " in said.err, said.err
    assert seen > 90
    assert not list(tmp_path.iterdir())


def test_looking_does_not_make_a_store(shell: Shell, tmp_path: Path) -> None:
    said = shell("jobs", "list")
    assert said.code == 3
    assert "there is no store at" in said.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("store", ["postgresql://ada@127.0.0.1:1/none", "sqlite:///broken.sqlite3"])
def test_a_store_that_is_away_is_told_with_code_3(store: str, shell: Shell) -> None:
    Path("broken.sqlite3").write_text("this is no database" * 100)
    said = shell("jobs", "list", "--store", store)
    assert said.code == 3
    assert said.err.count("\n") == 1


def test_an_odd_address_says_what_to_write(shell: Shell) -> None:
    said = shell("jobs", "list", "--store", "mysql://ada")
    assert said.code == 2
    assert "sqlite:///" in said.err


def test_an_unknown_zone_is_refused_with_the_nearest(shell: Shell) -> None:
    shell("jobs", "enqueue", "greet")
    said = shell("jobs", "list", "--zone", "Europe/Berln")
    assert said.code == 2
    assert "Did you mean 'Europe/Berlin'?" in said.err


def test_cron_preview_marks_the_hour_that_is_missing(shell: Shell) -> None:
    said = shell(
        *("cron", "preview", "30 2 * * *", "--zone", "Europe/Berlin"),
        *("--after", "2026-03-28T12:00:00", "--count", "2"),
    )
    assert said.code == 0
    assert "2026-03-29 01:30:00Z   Sun 2026-03-29 03:30:00" in said.out
    assert "does not exist" in said.out


def test_cron_preview_in_json_follows_the_policy(shell: Shell) -> None:
    words = ("cron", "preview", "30 2 * * *", "--zone", "Europe/Berlin", "--count", "1", "--json")
    said = shell(*words, "--after", "2026-03-28T12:00:00", "--gap", "skip")
    assert said.data["occurrences"] == [
        {"at": "2026-03-30T00:30:00Z", "mark": "none", "wall": "2026-03-30T02:30:00+02:00"}
    ]


def test_a_bad_expression_is_refused_with_the_field(shell: Shell) -> None:
    said = shell("cron", "preview", "61 * * * *")
    assert said.code == 2
    assert "minute" in said.err


def test_completion_knows_the_lazy_commands(shell: Shell, tmp_path: Path) -> None:
    script = tmp_path / "complete.bash"
    assert shell("completion", "--shell", "bash", "--output", str(script)).code == 0
    assert "redrive" in script.read_text()


def test_postgresql_is_spoken_to_in_the_same_words(shell: Shell, postgres_database: str) -> None:
    at = ("--store", postgres_database)
    assert shell("jobs", "enqueue", "greet", "name=Ada", "--queue", "mail", *at).code == 0
    assert shell("jobs", "list", "--json", *at).data[0]["payload"] == {"name": "Ada"}
    assert "no running worker serves" in shell("jobs", "why", "1", *at).out
    said = shell("doctor", *at)
    assert said.code == 1
    assert "no running worker serves" in said.out.replace("\n", " ")


def test_a_reader_that_has_seen_enough_is_no_fault(shell: Shell) -> None:
    for _ in range(3):
        shell("jobs", "enqueue", "greet", f"text={'x' * 100_000}")
    main = "from cadenza.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", main, "jobs", "list", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(20) == 0


def test_a_help_that_nobody_reads_to_its_end_is_no_fault() -> None:
    main = "from cadenza.cli import main; main()"
    read, write = os.pipe()
    os.close(read)
    words = [sys.executable, "-c", main, "jobs", "--help"]
    with subprocess.Popen(words, stdout=write, stderr=subprocess.PIPE) as process:
        os.close(write)
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


def test_an_address_of_another_kind_is_refused(shell: Shell) -> None:
    said = shell("post", "list", "--server", "ftp://there", "--key", "cad_a_b")
    assert said.code == 2
    assert said.err == (
        "cadenza: ftp://there is no address of a server: it begins with https:// or http://\n"
    )


def test_an_end_without_an_offset_is_refused_with_what_to_write(shell: Shell) -> None:
    said = shell("key", "make", "ci", "--until", "2030-01-01T09:00")
    assert said.code == 2
    assert said.err == (
        "cadenza: write --until with an offset: 2030-01-01T09:00:00+01:00, or Z for UTC\n"
    )
