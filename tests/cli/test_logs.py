"""Log records keep the facts that came with them."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from cadenza.cli.codes import UsageError
from cadenza.cli.logs import MOST_ALIKE, WINDOW, FoldingHandler, LogStyle, log_to


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger("cadenza")
    handlers, level = list(root.handlers), ours.level
    yield
    root.handlers[:] = handlers
    ours.setLevel(level)


def test_a_line_is_one_json_object_with_its_facts() -> None:
    stream = io.StringIO()
    log_to(stream)
    logging.getLogger("cadenza.engine").warning("job failed", extra={"job": 7, "task": "greet"})
    line = json.loads(stream.getvalue())
    assert line["event"] == "job failed"
    assert (line["level"], line["job"], line["task"]) == ("warning", 7, "greet")
    assert line["timestamp"].endswith("Z")


def test_an_exception_stays_on_its_line() -> None:
    stream = io.StringIO()
    log_to(stream, style=LogStyle.JSON)
    try:
        raise ValueError("no")
    except ValueError:
        logging.getLogger("cadenza.engine").exception("a hook failed")
    (line,) = stream.getvalue().splitlines()
    assert json.loads(line)["exception"][0]["exc_type"] == "ValueError"


def test_people_read_words() -> None:
    stream = io.StringIO()
    log_to(stream, style=LogStyle.CONSOLE)
    logging.getLogger("cadenza.engine").info("worker started", extra={"worker": "ada"})
    assert "worker started" in stream.getvalue()
    assert "worker=ada" in stream.getvalue()


def test_setting_up_twice_does_not_say_things_twice() -> None:
    stream = io.StringIO()
    log_to(stream)
    log_to(stream, level="warning")
    log = logging.getLogger("cadenza.engine")
    log.info("not this")
    log.warning("this")
    assert len(stream.getvalue().splitlines()) == 1


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(UsageError, match="log level"):
        log_to(io.StringIO(), level="loud")


def test_a_warning_that_repeats_is_folded_and_counted() -> None:
    stream = io.StringIO()
    log_to(stream, style=LogStyle.JSON)
    (handler,) = (each for each in logging.getLogger().handlers if isinstance(each, FoldingHandler))

    def say(at: float, message: str, level: int = logging.WARNING) -> None:
        record = logging.makeLogRecord(
            {"name": "cadenza.api", "levelno": level, "levelname": "WARNING", "msg": message}
        )
        record.created = at
        handler.handle(record)

    for number in range(10_000):
        say(1000 + number / 1000, f"no file is left\nsocket: {number}")
        say(1000 + number / 1000, "a request was answered", logging.INFO)
    say(1001, "something else")
    written = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert sum(each["event"].startswith("no file is left") for each in written) == MOST_ALIKE
    assert sum(each["event"] == "a request was answered" for each in written) == 10_000
    assert written[-1]["event"] == "something else"
    say(1000 + WINDOW, "no file is left")
    *_, folded, again = (json.loads(line) for line in stream.getvalue().splitlines())
    assert (folded["event"], folded["line"], folded["times"]) == (
        "a line was repeated",
        "no file is left",
        10_000 - MOST_ALIKE,
    )
    assert again["event"] == "no file is left"
