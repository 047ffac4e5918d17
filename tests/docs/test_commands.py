"""Every command that README and the guides show is run, in a folder of its own, and must succeed."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cadenza.demo.draw import draw
from tests.cli.test_up import free_port
from tests.docs.blocks import HEAD, PASSWORD, ROOT, blocks, script
from tests.docs.warm import write_shim

PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("*.md")))
    if blocks(page)
]
RUN = [page for page in PAGES if any(block.not_run is None for block in blocks(page))]
NEEDS_POSTGRES = "db.lan"
LONGEST = 1200  # seconds; a page takes about 20 where nothing else runs
# Pages about an installation that is there already.
THERE_ALREADY = {"upgrade", "back-up-and-restore", "several-machines"}
INSTALLATION = f"""
cadenza db upgrade
cadenza person create ada@example.org Ada <<< '{PASSWORD}'
"""


@pytest.fixture(scope="module")
def warm() -> Iterator[Path]:
    """A folder with a `cadenza` in it that starts at once."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/warm"
        process = subprocess.Popen([sys.executable, "-m", "tests.docs.warm", path], cwd=ROOT)
        try:
            while not Path(path).exists():
                assert process.poll() is None, "it ended before it began"
                time.sleep(0.1)
            write_shim(Path(folder, "bin"), path)
            yield Path(folder, "bin")
        finally:
            process.kill()
            process.wait()


def run(
    page: Path, folder: Path, warm: Path, database: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a page as a reader's shell does, with our own ports."""
    text = script(page).replace("postgresql://cadenza@db.lan/cadenza", database)
    if page.stem in THERE_ALREADY:
        text = text.replace(HEAD, HEAD + INSTALLATION)
    if page.stem == "README":
        text = text.replace(
            HEAD, HEAD + "begin cadenza demo --data .cache/up\n"
        )  # what `make up` runs
    (folder / "shop.png").write_bytes(draw("harbour"))
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CADENZA")}
    port, desk = free_port(), free_port(25)
    for was, now in (
        ("127.0.0.1:8400", f"127.0.0.1:{port}"),
        ("127.0.0.1:8500", f"127.0.0.1:{desk}"),
        ("127.0.0.1:8515", f"127.0.0.1:{desk + 15}"),
        ("cadenza simulate", f"cadenza simulate --port {desk}"),
        ("cadenza demo", f"cadenza demo --networks-port {desk}"),
    ):
        text = text.replace(was, now)
    real = f"{Path(sys.executable).parent}:{clean['PATH']}"
    clean |= {
        "PATH": f"{warm}:{real}",
        "REAL_PATH": real,
        "CADENZA_LISTEN_PORT": str(port),
        "HOME": str(folder),
    }
    file = folder / "page.sh"
    file.write_text(text)
    # A page is many commands: on a busy machine it outlasts what one test may take. It has its own limit.
    faulthandler.cancel_dump_traceback_later()
    process = subprocess.Popen(
        ["bash", str(file)],
        cwd=folder,
        env=clean,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=LONGEST)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # what a page that failed left behind
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_is_a_shell_can_read(page: Path) -> None:
    for block in blocks(page):
        text = "\n".join(block.lines)
        assert text, f"{page.name}: a {block.kind} block without a command (begin them with $)"
        done = subprocess.run(
            ["bash", "-n"], input=text, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{page.name}: {text}\n{done.stderr}"
        assert block.not_run != "", f"{page.name}: say why it is not run"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in RUN if NEEDS_POSTGRES not in script(page)],
    ids=lambda page: page.stem,
)
def test_every_command_of_a_page_runs(page: Path, tmp_path: Path, warm: Path) -> None:
    done = run(page, tmp_path, warm)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert "Traceback" not in done.stderr, done.stderr[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in RUN if NEEDS_POSTGRES in script(page)], ids=lambda page: page.stem
)
def test_every_command_of_a_page_about_postgresql_runs(
    page: Path, tmp_path: Path, warm: Path, postgres_database: str
) -> None:
    done = run(page, tmp_path, warm, postgres_database)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def test_make_up_runs_what_the_page_is_tried_on() -> None:
    done = subprocess.run(
        ["make", "--dry-run", "up"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "cadenza demo --data .cache/up" in done.stdout


def test_what_is_not_run_says_why_in_the_same_words() -> None:
    reasons = [block.not_run for page in PAGES for block in blocks(page) if block.not_run]
    known = re.compile(
        r"it needs (Docker|systemd|the repository's address|PostgreSQL's own tools|a second machine|a mailbox of yours)"
    )
    assert [why for why in reasons if not known.match(why)] == []
    assert len(reasons) <= 8
