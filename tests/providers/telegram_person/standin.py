"""A stand-in for Telegram's servers: the real protocol on the wire, a small memory behind it.

It speaks MTProto 2.0 over full TCP packets, with a key that both sides know beforehand or with one that
they agree on (exchange.py), reads requests with Telethon's own classes, and answers a few of them. Telegram's
rules that matter here are kept: a `random_id` is known again, waits and refusals come as rpc_error, space
around a text is cut off, a number that lives in another data centre is sent there.
Limit: what Telegram's own servers do beyond that is not known here.
"""

from __future__ import annotations

import asyncio
import importlib
import struct
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count as count_up
from typing import Any
from zlib import crc32

from telethon.crypto import AES, AuthKey
from telethon.extensions import BinaryReader
from telethon.network.mtprotostate import MTProtoState
from telethon.password import compute_hash
from telethon.sessions import StringSession
from telethon.tl import functions
from telethon.tl.core import GzipPacked, MessageContainer

from tests.providers.telegram_person.exchange import KeyExchange

# Generated classes whose annotations are looser than what they take.
types: Any = importlib.import_module("telethon.tl.types")
KEY = bytes(range(256))
# The prime that Telegram publishes; clients take no other without a long check.
PRIME = bytes.fromhex(
    "c71caeb9c6b1c9048e6c522f70f13f73980d40238e3e21c14934d037563d930f"
    "48198a0aa7c14058229493d22530f4dbfa336f6e0ac925139543aed44cce7c37"
    "20fd51f69458705ac68cd4fe6b6b13abdc9746512969328454f18faf8c595f64"
    "2477fe96bb2a941d5bcd1d4ac8cc49880708fa9b378e3c4f3a9060bee67cf9a4"
    "a4a695811051907e162753b56b0f6b410dba74d8a84b2a14b3144e0ef1284754"
    "fd17ed950d5965b4b9dd46582db1178d169c6bc465b0d6ff9ca3928fef5b9ae4"
    "e418fc15e83ebea0f87fa9ff5eed70050ded2849f47bf959d956850ce929851f"
    "0d8115f635b105ee2e4e15d04b2454bf6f4fadf034b10403119cd8e3b92fcc5b"
)
RESULT = 0xF35C6D01
NUMBERS = count_up()  # of messages: never the same twice, on whichever line they go
Refuse = tuple[int, str]
PHONE, CODE, PASSWORD = "4915112345", "24680", "correct horse"


@dataclass
class Telegram:
    """What the servers know."""

    sent: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    refusals: list[Refuse] = field(default_factory=list[Refuse])  # for the next sends
    hangs_up: list[str] = field(default_factory=list[str])  # "before" or "after" the next sends
    signed_in: bool = True
    has_password: bool = False
    requested: list[str] = field(default_factory=list[str])
    port: int = 0
    lives_in: Telegram | None = None  # another data centre, where all sign in
    slow: float = 0.0  # seconds that a piece of a file takes
    keys: dict[Any, Any] = field(default_factory=lambda: {AuthKey(KEY).key_id: AuthKey(KEY)})

    @property
    def session(self) -> str:
        """Write a session that has a key with this server."""
        session = StringSession()
        session.set_dc(2, "127.0.0.1", self.port)
        session.auth_key = AuthKey(KEY)
        return session.save()

    def answer(self, request: Any) -> Any:
        """Answer one request, or raise `DeliveryRefusal`."""
        self.requested.append(type(request).__name__)
        handler: Callable[[Any], Any] | None = getattr(self, f"_{type(request).__name__}", None)
        if handler is None:
            raise Refused(400, f"NOT_PLAYED_{type(request).__name__}")
        return handler(request)

    def _GetConfigRequest(self, _: Any) -> Any:  # noqa: N802 - named as the request
        here = [types.DcOption(id=2, ip_address="127.0.0.1", port=self.port)]
        if self.lives_in is not None:
            here.append(types.DcOption(id=4, ip_address="127.0.0.1", port=self.lives_in.port))
        fields = dict.fromkeys(_numbers(types.Config), 1)
        fields |= {"date": _now(), "expires": _now(), "test_mode": False, "dc_options": here}
        return types.Config(**fields | {"dc_txt_domain_name": "", "me_url_prefix": ""})

    def _GetUsersRequest(self, _: Any) -> Any:  # noqa: N802
        if not self.signed_in:
            raise Refused(401, "AUTH_KEY_UNREGISTERED")
        return [ADA]

    def _GetStateRequest(self, _: Any) -> Any:  # noqa: N802
        if not self.signed_in:
            raise Refused(401, "AUTH_KEY_UNREGISTERED")
        return types.updates.State(pts=1, qts=1, date=_now(), seq=1, unread_count=0)

    def _GetDifferenceRequest(self, _: Any) -> Any:  # noqa: N802
        return types.updates.DifferenceEmpty(date=_now(), seq=1)

    def _ResolveUsernameRequest(self, request: Any) -> Any:  # noqa: N802
        if request.username == "news":
            return types.contacts.ResolvedPeer(types.PeerChannel(77), [NEWS], [])
        if request.username == "ben":
            return types.contacts.ResolvedPeer(types.PeerUser(42), [], [BEN])
        raise Refused(400, "USERNAME_NOT_OCCUPIED")

    def _ResolvePhoneRequest(self, _: Any) -> Any:  # noqa: N802
        return types.contacts.ResolvedPeer(types.PeerUser(42), [], [BEN])

    def _SaveFilePartRequest(self, _: Any) -> Any:  # noqa: N802
        return True

    def _SendMessageRequest(self, request: Any) -> Any:  # noqa: N802
        if self.refusals:
            raise Refused(*self.refusals.pop(0))
        if any(each["random_id"] == request.random_id for each in self.sent):
            raise Refused(500, "RANDOM_ID_DUPLICATE")
        if len(request.message) > 4096:
            raise Refused(400, "MESSAGE_TOO_LONG")
        number = len(self.sent) + 100
        answers = getattr(request.reply_to, "reply_to_msg_id", None)
        media = type(getattr(request, "media", None)).__name__
        self.sent.append(
            {
                "id": number,
                "random_id": request.random_id,
                "text": request.message.strip(),
                "to": type(request.peer).__name__,
                "answers": answers,
                "media": media,
                "date": _now(),
            }
        )
        known = types.UpdateMessageID(id=number, random_id=request.random_id)
        return types.Updates(updates=[known], users=[], chats=[], date=_now(), seq=0)

    _SendMediaRequest = _SendMessageRequest

    def _GetHistoryRequest(self, _: Any) -> Any:  # noqa: N802
        messages = [
            types.Message(
                id=each["id"],
                peer_id=types.PeerUser(42),
                date=each["date"],
                message=each["text"],
                out=True,
            )
            for each in reversed(self.sent)
        ]
        return types.messages.Messages(messages=messages, topics=[], chats=[], users=[BEN])

    def _SendCodeRequest(self, request: Any) -> Any:  # noqa: N802
        if self.lives_in is not None:
            raise Refused(303, "PHONE_MIGRATE_4")
        if request.phone_number.strip("+") != PHONE:
            raise Refused(400, "PHONE_NUMBER_INVALID")
        kind = types.auth.SentCodeTypeApp(length=5)
        return types.auth.SentCode(type=kind, phone_code_hash="the-hash")

    def _SignInRequest(self, request: Any) -> Any:  # noqa: N802
        if (request.phone_code, request.phone_code_hash) != (CODE, "the-hash"):
            raise Refused(400, "PHONE_CODE_INVALID")
        if self.has_password:
            raise Refused(401, "SESSION_PASSWORD_NEEDED")
        return self._welcome()

    def _GetPasswordRequest(self, _: Any) -> Any:  # noqa: N802
        return types.account.Password(
            new_algo=types.PasswordKdfAlgoUnknown(),
            new_secure_algo=types.SecurePasswordKdfAlgoUnknown(),
            secure_random=b"",
            has_password=True,
            current_algo=ALGORITHM,
            srp_B=LOCK.shown,
            srp_id=5,
        )

    def _CheckPasswordRequest(self, request: Any) -> Any:  # noqa: N802
        if not LOCK.opens(request.password.A, request.password.M1):
            raise Refused(400, "PASSWORD_HASH_INVALID")
        return self._welcome()

    def _welcome(self) -> Any:
        self.signed_in = True
        return types.auth.Authorization(user=ADA)


class Refused(Exception):
    """An rpc_error."""


ALGORITHM = types.PasswordKdfAlgoSHA256SHA256PBKDF2HMACSHA512iter100000SHA256ModPow(
    salt1=b"salt-one", salt2=b"salt-two", g=3, p=PRIME
)


class Lock:
    """The server's half of proving a password (SRP), with a secret of its own."""

    def __init__(self) -> None:
        self._p, self._g, self._b = int.from_bytes(PRIME, "big"), ALGORITHM.g, 1 << 300
        wide = self._g.to_bytes(256, "big")
        self._x = pow(self._g, int.from_bytes(compute_hash(ALGORITHM, PASSWORD), "big"), self._p)
        mixed = int.from_bytes(sha256(PRIME + wide).digest(), "big")
        shown = (mixed * self._x + pow(self._g, self._b, self._p)) % self._p
        self.shown = shown.to_bytes(256, "big")
        pairs = zip(sha256(PRIME).digest(), sha256(wide).digest(), strict=True)
        self._head = bytes(one ^ other for one, other in pairs)

    def opens(self, theirs: bytes, proof: bytes) -> bool:
        u = int.from_bytes(sha256(theirs + self.shown).digest(), "big")
        secret = pow(int.from_bytes(theirs, "big") * pow(self._x, u, self._p), self._b, self._p)
        key = sha256(secret.to_bytes(256, "big")).digest()
        salts = sha256(ALGORITHM.salt1).digest() + sha256(ALGORITHM.salt2).digest()
        return proof == sha256(self._head + salts + theirs + self.shown + key).digest()


LOCK = Lock()


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _numbers(kind: type) -> list[str]:
    """Name the fields of a type that must be given."""
    return [name for name in kind.__init__.__code__.co_varnames[1:] if name not in _optional(kind)]


def _optional(kind: type) -> set[str]:
    code = kind.__init__.__code__
    names = code.co_varnames[: code.co_argcount]
    return set(names[len(names) - len(kind.__init__.__defaults__ or ()) :])


ADA = types.User(id=41, is_self=True, first_name="Ada", username="ada", access_hash=1)
BEN = types.User(id=42, first_name="Ben", username="ben", access_hash=7)
NEWS = types.Channel(
    id=77, title="News", photo=types.ChatPhotoEmpty(), date=None, access_hash=9, broadcast=True
)


@asynccontextmanager
async def telegram() -> AsyncGenerator[Telegram]:
    """Listen on this machine."""
    simulated = Telegram()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _talk(simulated, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    simulated.port = server.sockets[0].getsockname()[1]
    try:
        yield simulated
    finally:
        server.close()


async def _talk(
    simulated: Telegram, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    count = 0
    exchange = KeyExchange(PRIME)
    while True:
        head = await reader.readexactly(8)
        (length, _) = struct.unpack("<ii", head)
        body = (await reader.readexactly(length - 8))[:-4]
        if body[:8] == bytes(8):  # no key yet
            writer.write(_packet(exchange.answer(body), count))
            count += 1
            if exchange.key is not None:
                simulated.keys[exchange.key.key_id] = exchange.key
            continue
        key = simulated.keys[struct.unpack("<Q", body[:8])[0]]
        session, requests = _open(body, key)
        for number, request in requests:
            plain = _bare(request)
            kind = type(plain).__name__
            sends = kind in {"SendMessageRequest", "SendMediaRequest"}
            if sends and simulated.hangs_up and simulated.hangs_up[0] == "before":
                simulated.hangs_up.pop(0)
                return
            answer = _result(simulated, number, plain)
            if answer is None:
                continue
            if sends and simulated.hangs_up:
                simulated.hangs_up.pop(0)
                return
            if kind == "SaveFilePartRequest":
                await asyncio.sleep(simulated.slow)
            writer.write(_packet(_seal(session, answer, count, key), count))
            count += 1
        await writer.drain()


def _result(simulated: Telegram, number: int, request: Any) -> bytes | None:
    """Answer a request; what needs no answer (receipts) gets none."""
    if not type(request).__name__.endswith("Request"):
        return None
    if type(request).__name__.startswith("Ping"):
        return bytes(types.Pong(msg_id=number, ping_id=request.ping_id))
    try:
        body = _written(simulated.answer(request))
    except Refused as refused:
        code, words = refused.args
        body = bytes(types.RpcError(error_code=code, error_message=words))
    return struct.pack("<Iq", RESULT, number) + body


def _written(answer: Any) -> bytes:
    if isinstance(answer, bool):
        return struct.pack("<I", 0x997275B5 if answer else 0xBC799737)
    if isinstance(answer, list):
        return struct.pack("<Ii", 0x1CB5C415, len(answer)) + b"".join(map(bytes, answer))
    return bytes(answer)


def _bare(request: Any) -> Any:
    """Unwrap a request from what says how it is to be treated."""
    while isinstance(
        request,
        functions.InvokeWithLayerRequest
        | functions.InitConnectionRequest
        | functions.InvokeWithoutUpdatesRequest,
    ):
        request = request.query
    return request


def _open(packet: bytes, auth: Any) -> tuple[int, list[tuple[int, Any]]]:
    """Decrypt what the client sent."""
    key, iv = MTProtoState._calc_key(auth.key, packet[8:24], client=True)
    plain = AES.decrypt_ige(packet[24:], key, iv)
    reader = BinaryReader(plain)
    reader.read_long()
    session, number = reader.read_long(), reader.read_long()
    reader.read_int()
    reader.read_int()
    return session, _flat(number, reader.tgread_object())


def _flat(number: int, thing: Any) -> list[tuple[int, Any]]:
    if isinstance(thing, MessageContainer):
        return [pair for each in thing.messages for pair in _flat(each.msg_id, each.obj)]
    if isinstance(thing, GzipPacked):
        return _flat(number, BinaryReader(thing.data).tgread_object())
    return [(number, thing)]


def _seal(session: int, body: bytes, count: int, auth: Any) -> bytes:
    """Encrypt an answer, as the server's side."""
    number = (int(datetime.now(UTC).timestamp()) << 32) | (next(NUMBERS) << 2) | 1
    plain = struct.pack("<qqqii", 0, session, number, count * 2 + 1, len(body)) + body
    plain += b"\0" * (-(len(plain) + 12) % 16 + 12)
    check = sha256(auth.key[96:128] + plain).digest()[8:24]
    key, iv = MTProtoState._calc_key(auth.key, check, client=False)
    head = struct.pack("<Q", auth.key_id)
    return head + check + AES.encrypt_ige(plain, key, iv)


def _packet(data: bytes, count: int) -> bytes:
    framed = struct.pack("<ii", len(data) + 12, count) + data
    return framed + struct.pack("<I", crc32(framed))
