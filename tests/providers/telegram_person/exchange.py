"""The server's half of agreeing on a key (MTProto's exchange by Diffie and Hellman), with an RSA key of its own.

Played in the clear before anything else, as Telegram does; numbers that only matter to its safety are
small or fixed here. The client's half is Telethon's, unchanged, once it has been shown the public key.
"""

from __future__ import annotations

import importlib
import struct
from dataclasses import dataclass, field
from hashlib import sha1
from time import time
from typing import Any

import rsa as plain_rsa
from cryptography.hazmat.primitives.asymmetric import rsa as strong_rsa
from telethon.crypto import AES, AuthKey, rsa
from telethon.extensions import BinaryReader
from telethon.helpers import generate_key_data_from_nonce

types: Any = importlib.import_module("telethon.tl.types")
P, Q = 524_287, 1_000_003
OURS = 1 << 2000 | 12345  # the server's secret number
NONCE = 987654321


def _new_lock() -> plain_rsa.PrivateKey:
    numbers = strong_rsa.generate_private_key(65537, 2048).private_numbers()
    public = numbers.public_numbers
    return plain_rsa.PrivateKey(public.n, public.e, numbers.d, numbers.p, numbers.q)


LOCK = _new_lock()
PUBLIC = plain_rsa.PublicKey(LOCK.n, LOCK.e)
FINGERPRINT = rsa._compute_fingerprint(PUBLIC)


def _read(data: bytes) -> Any:
    return BinaryReader(data).tgread_object()


def show_public_key() -> None:
    """Let Telethon trust this server."""
    rsa.add_key(PUBLIC.save_pkcs1(), old=False)


@dataclass
class KeyExchange:
    """One exchange; `key` is there when it is over."""

    prime: bytes
    key: Any = None  # Telethon's AuthKey
    _nonce: int = 0
    _new_nonce: int = 0
    _aes: tuple[bytes, bytes] = field(default=(b"", b""))

    def answer(self, packet: bytes) -> bytes:
        """Answer one message that is not encrypted."""
        request = _read(packet[20:])
        step: Any = getattr(self, f"_{type(request).__name__}")
        body = bytes(step(request))
        return struct.pack("<qqi", 0, int(time()) << 32 | 1, len(body)) + body

    def _ReqPqMultiRequest(self, request: Any) -> Any:  # noqa: N802 - named as the request
        self._nonce = request.nonce
        return types.ResPQ(request.nonce, NONCE, rsa.get_byte_array(P * Q), [FINGERPRINT])

    def _ReqDHParamsRequest(self, request: Any) -> Any:  # noqa: N802
        opened = pow(int.from_bytes(request.encrypted_data, "big"), LOCK.d, LOCK.n)
        inner = _read(opened.to_bytes(255, "big")[20:])
        self._new_nonce = inner.new_nonce
        self._aes = generate_key_data_from_nonce(NONCE, inner.new_nonce)
        shown = pow(3, OURS, int.from_bytes(self.prime, "big")).to_bytes(256, "big")
        data = bytes(types.ServerDHInnerData(self._nonce, NONCE, 3, self.prime, shown, int(time())))
        data = sha1(data).digest() + data
        data += bytes(-len(data) % 16)
        return types.ServerDHParamsOk(self._nonce, NONCE, AES.encrypt_ige(data, *self._aes))

    def _SetClientDHParamsRequest(self, request: Any) -> Any:  # noqa: N802
        opened = AES.decrypt_ige(request.encrypted_data, *self._aes)
        theirs = int.from_bytes(_read(opened[20:]).g_b, "big")
        agreed = pow(theirs, OURS, int.from_bytes(self.prime, "big"))
        self.key = AuthKey(rsa.get_byte_array(agreed))
        proof = self.key.calc_new_nonce_hash(self._new_nonce, 1)
        return types.DhGenOk(self._nonce, NONCE, proof)
