"""Log lines of `cadenza.*` for people or for programs.

The library logs by the standard `logging` with facts in `extra`; here, and only when the command
line runs, structlog renders them: coloured on a terminal, one JSON object a line otherwise.
"""

import logging
from enum import StrEnum
from typing import TextIO

from cadenza.cli.codes import Misused

LEVELS = ("debug", "info", "warning", "error")


class LogStyle(StrEnum):
    """How a line looks."""

    CONSOLE = "console"
    JSON = "json"


def log_to(stream: TextIO, *, style: LogStyle | None = None, level: str = "info") -> None:
    """Send all log records to a stream, in one style."""
    import structlog

    from cadenza.providers.http.redact import redact

    class _Redacting(structlog.stdlib.ProcessorFormatter):
        """The last net: what looks like a secret in an address does not reach a line."""

        def format(self, record: logging.LogRecord) -> str:
            return redact(super().format(record))

    if level not in LEVELS:
        raise Misused(f"log level {level!r} is not one of {', '.join(LEVELS)}")
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
        tell = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        last += [
            structlog.processors.ExceptionRenderer(tell),
            structlog.processors.JSONRenderer(),
        ]
    else:
        # The library's own formatter would print every local variable, tokens and all.
        last.append(
            structlog.dev.ConsoleRenderer(
                colors=stream.isatty(), exception_formatter=structlog.dev.plain_traceback
            )
        )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_Redacting(foreign_pre_chain=before, processors=last))
    root = logging.getLogger()
    for old in [h for h in root.handlers if getattr(h, "of_cadenza", False)]:
        root.removeHandler(old)
    handler.of_cadenza = True  # pyright: ignore[reportAttributeAccessIssue]
    root.addHandler(handler)
    logging.getLogger("cadenza").setLevel(level.upper())
