"""Log lines of `cadenza.*` for people or for programs.

The library logs by the standard `logging` with facts in `extra`; here, and only when the command
line runs, structlog renders them: coloured on a terminal, one JSON object a line otherwise.
"""

import logging
from enum import StrEnum
from typing import TextIO

from cadenza.engine.errors import InvalidJob

LEVELS = ("debug", "info", "warning", "error")


class LogStyle(StrEnum):
    """How a line looks."""

    CONSOLE = "console"
    JSON = "json"


def log_to(stream: TextIO, *, style: LogStyle | None = None, level: str = "info") -> None:
    """Send all log records to a stream, in one style."""
    import structlog

    if level not in LEVELS:
        raise InvalidJob(f"log level {level!r} is not one of {', '.join(LEVELS)}")
    chosen = style or (LogStyle.CONSOLE if stream.isatty() else LogStyle.JSON)
    before = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[structlog.typing.Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta
    ]
    if chosen is LogStyle.JSON:
        last += [structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer()]
    else:
        last.append(structlog.dev.ConsoleRenderer(colors=stream.isatty()))
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=before, processors=last)
    )
    root = logging.getLogger()
    for old in [h for h in root.handlers if getattr(h, "of_cadenza", False)]:
        root.removeHandler(old)
    handler.of_cadenza = True  # pyright: ignore[reportAttributeAccessIssue]
    root.addHandler(handler)
    logging.getLogger("cadenza").setLevel(level.upper())
