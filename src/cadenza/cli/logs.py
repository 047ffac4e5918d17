"""Log lines of `cadenza.*` for people or for programs.

The library logs by the standard `logging` with facts in `extra`; here, and only when the command
line runs, structlog renders them: coloured on a terminal, one JSON object a line otherwise. A warning or error
that repeats is folded: twenty a minute are written, the rest is counted.
"""

import logging
from dataclasses import dataclass
from enum import StrEnum
from typing import TextIO

from cadenza.cli.codes import UsageError

LEVELS = ("debug", "info", "warning", "error")


WINDOW = 60.0  # seconds
MOST_ALIKE = 20  # lines of one kind in a window


class LogStyle(StrEnum):
    """How a line looks."""

    CONSOLE = "console"
    JSON = "json"


@dataclass(slots=True)
class _Kind:
    """Records whose first line is the same, with other facts."""

    since: float
    written: int = 0
    folded: int = 0


class FoldingHandler(logging.StreamHandler[TextIO]):
    """Writes lines, but not the same warning for ever: nobody reads it, and it fills the disk."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._kinds: dict[tuple[str, int, str], _Kind] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, or count it."""
        self._close_windows(record.created)
        if record.levelno >= logging.WARNING:
            # asyncio puts the facts into the message, on the lines after the first.
            key = (record.name, record.levelno, str(record.msg).partition("\n")[0])
            kind = self._kinds.setdefault(key, _Kind(record.created))
            if kind.written >= MOST_ALIKE:
                kind.folded += 1
                return
            kind.written += 1
        super().emit(record)

    def _close_windows(self, now: float) -> None:
        """Tell what was folded in windows that have ended."""
        for key, kind in list(self._kinds.items()):
            if 0 <= now - kind.since < WINDOW:
                continue
            del self._kinds[key]
            if kind.folded:
                name, level, line = key
                facts = {"line": line[:200], "times": kind.folded}
                said = {"name": name, "levelno": level, "levelname": logging.getLevelName(level)}
                super().emit(
                    logging.makeLogRecord(
                        said | facts | {"msg": "a line was repeated", "created": now}
                    )
                )


def log_to(stream: TextIO, *, style: LogStyle | None = None, level: str = "info") -> None:
    """Send all log records to a stream, in one style."""
    import structlog

    from cadenza.providers.http.redact import redact

    class _Redacting(structlog.stdlib.ProcessorFormatter):
        """The last net: what looks like a secret in an address does not reach a line."""

        def format(self, record: logging.LogRecord) -> str:
            return redact(super().format(record))

    if level not in LEVELS:
        raise UsageError(f"log level {level!r} is not one of {', '.join(LEVELS)}")
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
    handler = FoldingHandler(stream)
    handler.setFormatter(_Redacting(foreign_pre_chain=before, processors=last))
    root = logging.getLogger()
    for old in [h for h in root.handlers if getattr(h, "of_cadenza", False)]:
        root.removeHandler(old)
    handler.of_cadenza = True  # pyright: ignore[reportAttributeAccessIssue]
    root.addHandler(handler)
    logging.getLogger("cadenza").setLevel(level.upper())
