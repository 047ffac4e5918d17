"""Decides whether a channel takes a delivery's content: the one check behind every promise and every refusal.

The composer's preview, the API's refusals, the pre-flight, `explain`, the flag in queues and the pipeline's
gate all ask here, so that what a screen promises is what happens. `check_fit` asks no storage and judges pictures
as they will be changed; `check_fitted` changes them. Files that networks fetch are judged only where `files` say
their addresses.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import msgspec

from cadenza.accounts.model import Account, read_accounts
from cadenza.accounts.open import refer
from cadenza.core.channels import Channel
from cadenza.deliveries.model import NewDelivery
from cadenza.deliveries.render import Files, Renderable, render, render_fitted
from cadenza.providers.base import Problem, Provider
from cadenza.providers.check_message import check_message
from cadenza.providers.fit_picture import PictureRules, rules_of
from cadenza.providers.message import AccountRef, Message
from cadenza.providers.registry import all_providers
from cadenza.sql.tx import Tx

Place: TypeAlias = tuple[str, Channel]  # an account and a channel


class Placed(Renderable, Protocol):
    """Content for an account."""

    @property
    def account_id(self) -> str:
        """Who sends it."""
        ...


class StoredPiece(msgspec.Struct, frozen=True):
    """A delivery's content as it is stored."""

    account_id: str
    channel: Channel
    content: str
    recipient: str | None


class AnyAddress:
    """Stands in where nobody says at which address files can be fetched: that is not judged then."""

    async def read(self, name: str) -> bytes:
        """Refuse: a check reads no file."""
        raise FileNotFoundError(name)

    def public_url(self, name: str) -> str | None:
        """Assume an address."""
        return f"https://address-not-known.invalid/{name}"


@dataclass(frozen=True, slots=True)
class Fit:
    """The message as the channel gets it (None: it cannot be read), and what is wrong with it."""

    message: Message | None
    problems: tuple[Problem, ...] = ()

    @property
    def blocking(self) -> tuple[Problem, ...]:
        """Return what keeps it from going out."""
        return tuple(each for each in self.problems if each.blocking)


class _Shown(msgspec.Struct):
    file: str | None = None


class _Shows(msgspec.Struct):
    media: tuple[_Shown, ...] = ()


def check_fit(
    provider: Provider | None,
    account: AccountRef,
    piece: Renderable,
    files: Files | None = None,
    *,
    gone: Collection[str] = (),
) -> Fit:
    """Check content (`content`, `channel`, `recipient`) by the network's own limits; `gone` are not stored."""
    try:
        message = render(piece, files or AnyAddress(), _rules(provider, account, piece))
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        return Fit(None, (_unreadable(piece.content, error),))
    if any(name in gone for name in files_in(piece.content)):
        detail = "a file that it shows is not in the storage any more: choose or upload another"
        return Fit(message, (Problem("media_gone", detail, field="media"),))
    return _judge(provider, account, message)


async def check_fitted(
    provider: Provider | None, account: AccountRef, piece: Renderable, files: Files
) -> Fit:
    """Check content whose pictures are changed to what the channel takes; never within a transaction."""
    try:
        message = await render_fitted(piece, files, _rules(provider, account, piece))
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        return Fit(None, (_unreadable(piece.content, error),))
    return _judge(provider, account, message)


def _rules(
    provider: Provider | None, account: AccountRef, piece: Renderable
) -> PictureRules | None:
    if provider is None:
        return None
    return rules_of(provider.name, piece.channel, account)


def _judge(provider: Provider | None, account: AccountRef, message: Message) -> Fit:
    if provider is None or message.channel not in provider.channels:
        return Fit(message)
    return Fit(message, tuple(check_message(provider, message, account)))


def check_content(
    piece: Renderable,
    account: Account | None,
    files: Files | None = None,
    *,
    gone: Collection[str] = (),
) -> Fit:
    """Check what an account is to send."""
    if account is None:
        return check_fit(None, AccountRef(id="", remote_id=""), piece, files, gone=gone)
    return check_fit(all_providers().get(account.provider), refer(account), piece, files, gone=gone)


def find_unfit(
    tx: Tx, workspace_id: str, pieces: Iterable[Placed], files: Files | None = None
) -> dict[Place, tuple[Problem, ...]]:
    """Return what keeps deliveries of one workspace from going out, by account and channel."""
    requested = list(pieces)
    accounts = read_accounts(tx, {(workspace_id, piece.account_id) for piece in requested})
    return {
        (piece.account_id, piece.channel): found
        for piece in requested
        if (
            found := check_content(
                piece, accounts.get((workspace_id, piece.account_id)), files
            ).blocking
        )
    }


def flags_of(tx: Tx, new: Sequence[NewDelivery]) -> dict[str, str]:
    """Say of new deliveries of posts, by id, what keeps them from going out."""
    posts = [each for each in new if each.post_id is not None]
    accounts = read_accounts(tx, {(each.workspace_id, each.account_id) for each in posts})
    found = {
        each.id: flag(
            check_content(each, accounts.get((each.workspace_id, each.account_id))).blocking
        )
        for each in posts
    }
    return {id_: message for id_, message in found.items() if message is not None}


def flag(problems: Sequence[Problem]) -> str | None:
    """Say problems as a delivery keeps them (`unfit`); None: it fits."""
    return "; ".join(each.message.rstrip(".") for each in problems) or None


def files_in(content: str) -> list[str]:
    """Name the files that stored content shows."""
    shows = msgspec.json.decode(content, type=_Shows)
    return [each.file for each in shows.media if each.file is not None]


def _unreadable(content: str, error: Exception) -> Problem:
    """Say why content is not complete; a file that was deleted is left in it as a gap."""
    try:
        is_gap = any(each.file is None for each in msgspec.json.decode(content, type=_Shows).media)
    except (msgspec.ValidationError, msgspec.DecodeError):
        is_gap = False
    if is_gap:
        message = "a file that it shows is gone: choose or upload another"
        return Problem("media_gone", message, field="media")
    return Problem("unreadable", f"its content cannot be read: {error}")
