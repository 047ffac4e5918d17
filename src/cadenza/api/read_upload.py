"""Reads a multipart upload as it arrives: small fields are gathered, the file is handed on piece by piece.

Nothing of the file is kept in memory or written anywhere here; what takes it (`media/upload.py`) bounds it.
Fields may stand before or after the file. Limit: one file a request.
"""

from collections import deque
from collections.abc import AsyncIterator
from typing import Any

from fastapi import Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from cadenza.api.problems import Problem

FIELDS = 20
FIELD = 64 * 1024  # bytes of one field
HEADER = 4096


class UploadForm:
    """One multipart body, read forward only."""

    def __init__(self, request: Request) -> None:
        kind, options = parse_options_header(request.headers.get("content-type", ""))
        boundary = options.get(b"boundary", b"")
        if kind != b"multipart/form-data" or not 1 <= len(boundary) <= 200:
            raise Problem(415, "not_multipart", "Send the file as multipart/form-data.")
        self.fields: dict[str, str] = {}
        self.filename: str | None = None  # of the file, once it was met
        self._source = request.stream()
        self._events: deque[tuple[str, bytes]] = deque()
        self._headers: list[tuple[bytes, bytes]] = []
        self._name, self._value = bytearray(), bytearray()
        self._ended = False
        self._parser = MultipartParser(boundary, self._callbacks())

    async def find_file(self, name: str = "file") -> bool:
        """Read up to the file; False: there is none."""
        return await self._until(name)

    async def file(self) -> AsyncIterator[bytes]:
        """Yield the file's bytes; to be read after `find_file`."""
        while True:
            async for what, data in self._next():
                if what == "end":
                    return
                if what == "data":
                    yield data
                break
            else:
                raise _broken("it ends in the middle of the file")

    async def finish(self) -> None:
        """Read the fields that stand after the file."""
        if await self._until("file"):
            raise _broken("it holds more than one file")

    async def _until(self, name: str) -> bool:
        field: str | None = None
        value = bytearray()
        async for what, data in self._next():
            if what == "begin":
                found, filename = _disposition(data)
                if filename is not None and found == name:
                    self.filename = filename
                    return True
                field, value = found, bytearray()
            elif what == "data":
                value += data
                if len(value) > FIELD:
                    raise Problem(413, "too_large", f"A field may have {FIELD} bytes.")
            elif field is not None:
                self._keep(field, bytes(value))
                field = None
        if not self._ended:
            raise _broken("its end is missing")
        return False

    def _keep(self, field: str, value: bytes) -> None:
        if len(self.fields) >= FIELDS:
            raise _broken("it has too many fields")
        try:
            text = value.decode()
        except UnicodeDecodeError as error:
            raise _broken(f"the field {field!r} is not UTF-8") from error
        if "\x00" in text:
            raise _broken(f"the field {field!r} holds characters that cannot be kept")
        self.fields[field] = text

    async def _next(self) -> AsyncIterator[tuple[str, bytes]]:
        while True:
            while self._events:
                yield self._events.popleft()
            try:
                chunk = await anext(self._source)
            except StopAsyncIteration:
                return
            try:
                self._parser.write(chunk)
            except FormParserError as error:
                raise _broken("it is not well formed") from error

    def _callbacks(self) -> Any:
        def on_end() -> None:
            self._ended = True

        def on_header_end() -> None:
            self._headers.append((bytes(self._name).lower(), bytes(self._value)))
            self._name, self._value = bytearray(), bytearray()

        def on_headers_finished() -> None:
            said = dict(self._headers).get(b"content-disposition", b"")
            self._headers = []
            self._events.append(("begin", said))

        def gather(place: str) -> Any:
            def on_part(data: bytes, start: int, end: int) -> None:
                held: bytearray = getattr(self, place)
                held += data[start:end]
                if len(held) > HEADER:
                    raise _broken("a header is too long")

            return on_part

        return {
            "on_header_field": gather("_name"),
            "on_header_value": gather("_value"),
            "on_header_end": on_header_end,
            "on_headers_finished": on_headers_finished,
            "on_part_data": lambda data, start, end: self._events.append(
                ("data", bytes(data[start:end]))
            ),
            "on_part_end": lambda: self._events.append(("end", b"")),
            "on_end": on_end,
        }


def _disposition(header: bytes) -> tuple[str, str | None]:
    _, options = parse_options_header(header)
    name = options.get(b"name", b"").decode("utf-8", "replace")
    filename = options.get(b"filename")
    return name, None if filename is None else filename.decode("utf-8", "replace")


def _broken(message: str) -> Problem:
    return Problem(400, "bad_upload", f"The upload cannot be read: {message}.")
