"""One connection to a network: HTTP/1.1 by h11, byte for byte, with faults acted out on the wire.

Requests are read whole, the fault that the plan has for them decides what happens before and after
the world's handler. A request whose client has gone is still worked to its end, as servers do; that
is what makes a lost reply different from a lost request.
"""

import asyncio
import contextlib
import socket  # noqa: TID251 - a reset needs the socket's linger option
import struct
from dataclasses import replace
from urllib.parse import parse_qsl, unquote, urlsplit

import h11

from cadenza.demo.simulator.faults import Fault, Kind, gateway_page
from cadenza.demo.simulator.network import SimulatedNetwork
from cadenza.demo.simulator.page import PREFIX, control_page
from cadenza.demo.simulator.wire import Answer, Received

_CHUNK = 65536
_MOST = 400 * 1024 * 1024
_KEPT = 5000
_GONE = (ConnectionError, BrokenPipeError, h11.RemoteProtocolError, h11.LocalProtocolError)


class Connections:
    """All connections of one door."""

    def __init__(self, simulated: SimulatedNetwork, endpoint: str) -> None:
        self._world = simulated
        self._door = endpoint
        self._tasks: set[asyncio.Task[None]] = set()
        self._at_work: set[asyncio.Task[Answer | None]] = set()
        self._silent = asyncio.Event()

    async def welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Speak with one client until either side has enough."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with contextlib.suppress(*_GONE, asyncio.CancelledError):
                await self._talk(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def cut(self) -> None:
        """End every connection at once; work that began goes on to its end."""
        await self.quiet()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def quiet(self) -> None:
        """Wait until no handler is at work."""
        while self._at_work:
            await asyncio.wait(list(self._at_work))

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire = h11.Connection(h11.SERVER)
        while True:
            call = await _read(wire, reader, self._world, self._door)
            if call is None:
                return
            if call.path.startswith(PREFIX):
                await _send(wire, writer, control_page(self._world, call))
            elif not await self._perform(call, wire, writer):
                return
            if wire.our_state is not h11.DONE or wire.their_state is not h11.DONE:
                return
            wire.start_next_cycle()

    async def _perform(
        self, call: Received, wire: h11.Connection, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request, or act its fault out; say whether the connection may go on."""
        simulated = self._world
        simulated.received.append(call)
        if len(simulated.received) > _KEPT:
            del simulated.received[
                : _KEPT // 2
            ]  # bodies of a long simulation would fill the memory
        found = simulated.find(call.method, call.path)
        name = found[0].name if found else f"{call.method} {call.path}"
        call = replace(call, args=found[1] if found else {})
        fault = simulated.faults.take(name, simulated.account_of(call))
        if fault is not None and fault.kind is Kind.SILENCE_BEFORE:
            await self._silent.wait()  # until the door is shut
            return False
        work = asyncio.ensure_future(_work(simulated, call, fault))
        self._at_work.add(work)
        work.add_done_callback(self._at_work.discard)
        # Shielded: a client that leaves does not undo what it asked for.
        answer = await asyncio.shield(work)
        if answer is None:
            return False
        return await self._reply(answer, fault, wire, writer)

    async def _reply(
        self,
        answer: Answer,
        fault: Fault | None,
        wire: h11.Connection,
        writer: asyncio.StreamWriter,
    ) -> bool:
        match fault.kind if fault else None:
            case Kind.DROP_AFTER:
                return False
            case Kind.RESET_AFTER:
                _reset(writer)
                return False
            case Kind.SILENCE_AFTER:
                await self._silent.wait()  # until the door is shut
                return False
            case Kind.TRUNCATE_AFTER:
                writer.write(_bytes(wire, answer)[: -max(1, len(answer.body) // 2)])
                await writer.drain()
                return False
            case Kind.DRIP:
                assert fault is not None
                await _drip(_bytes(wire, answer), fault.seconds, writer, self._world)
            case Kind.ERROR_AFTER:
                assert fault is not None
                await _send(wire, writer, fault.reply())
            case Kind.HTML_AFTER:
                await _send(wire, writer, gateway_page(200))
            case _:
                await _send(wire, writer, answer)
        return True


async def _work(simulated: SimulatedNetwork, call: Received, fault: Fault | None) -> Answer | None:
    """Do what the request asks, as far as the fault lets it; None: hang up without a word."""
    match fault:
        case Fault(kind=Kind.DROP_BEFORE):
            return None
        case Fault(kind=Kind.ERROR_BEFORE):
            return fault.reply()
        case Fault(kind=Kind.DELAY):
            await simulated.shared.clock.really_wait(fault.seconds)
        case Fault(kind=Kind.EXPIRE):
            simulated.expire_token(call)
        case Fault(kind=Kind.LAG):
            call = replace(call, lag=fault.seconds)
        case _:
            pass
    route = simulated.find(call.method, call.path)
    found = route[0] if route else None
    answer = await simulated.answer(found, call)
    if fault is not None and fault.kind is Kind.TWICE:
        answer = await simulated.answer(found, simulated.repeat(call))
    return answer


async def _read(
    wire: h11.Connection, reader: asyncio.StreamReader, simulated: SimulatedNetwork, endpoint: str
) -> Received | None:
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event = wire.next_event()
        if event is h11.NEED_DATA:
            wire.receive_data(await reader.read(_CHUNK))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > _MOST:
                return None
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            return _received(head, bytes(body), simulated, endpoint)
        else:
            return None


def _received(
    head: h11.Request, body: bytes, simulated: SimulatedNetwork, endpoint: str
) -> Received:
    target = urlsplit(head.target.decode("ascii"))
    return Received(
        method=head.method.decode("ascii"),
        path=unquote(target.path),
        query=dict(parse_qsl(target.query, keep_blank_values=True)),
        headers={name.decode("ascii"): value.decode("latin-1") for name, value in head.headers},
        body=body,
        at=simulated.now,
        endpoint=endpoint,
    )


def _bytes(wire: h11.Connection, answer: Answer) -> bytes:
    headers = [*answer.headers, ("content-length", str(len(answer.body)))]
    if answer.status in {204, 304}:
        headers.pop()
    out = wire.send(h11.Response(status_code=answer.status, headers=headers)) or b""
    if wire.their_state is not h11.DONE or answer.body:
        out += wire.send(h11.Data(data=answer.body)) or b""
    return out + (wire.send(h11.EndOfMessage()) or b"")


async def _send(wire: h11.Connection, writer: asyncio.StreamWriter, answer: Answer) -> None:
    writer.write(_bytes(wire, answer))
    await writer.drain()


async def _drip(
    data: bytes,
    seconds: float,
    writer: asyncio.StreamWriter,
    simulated: SimulatedNetwork,
    pieces: int = 10,
) -> None:
    step = max(1, len(data) // pieces)
    for start in range(0, len(data), step):
        writer.write(data[start : start + step])
        await writer.drain()
        await simulated.shared.clock.really_wait(seconds / pieces)


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with a reset: linger zero throws away what is unsent."""
    sock: socket.socket = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
