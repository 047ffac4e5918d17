"""Where a post is to go: accounts, each with its usual channels, or pairs of account and channel.

An account's usual channels are those set for it (`settings.channels`), else those of its network that need
no recipient; a story goes out only when it is asked for, and a LinkedIn identity is a person or an
organisation, not both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

from cadenza.accounts.model import Account, read_accounts
from cadenza.core.channels import Channel, normalise
from cadenza.providers.registry import all_providers
from cadenza.sql.tx import Tx

Targets: TypeAlias = Sequence[tuple[str, Channel]] | Sequence[str]

GONE = "disabled"  # the state of an account that a person disconnected
ONLY_WHEN_ASKED = frozenset({Channel.INSTAGRAM_STORY})


class UnknownAccountError(LookupError):
    """The workspace has no account of that id: whoever asks checks first."""


@dataclass(frozen=True, slots=True)
class BadTarget:
    """The post cannot go there: nothing was changed."""

    account_id: str
    message: str


def set_aside_gone(
    tx: Tx, workspace_id: str, targets: Targets
) -> tuple[Targets, tuple[BadTarget, ...]]:
    """Return the targets without those whose account a person disconnected, and why those are left out."""
    accounts = accounts_of(tx, workspace_id, targets)
    gone = {id_: account for id_, account in accounts.items() if account.state == GONE}
    pairs = [each for each in targets if not isinstance(each, str) and each[0] not in gone]
    names = [each for each in targets if isinstance(each, str) and each not in gone]
    left = tuple(BadTarget(id_, _is_gone(account)) for id_, account in sorted(gone.items()))
    return pairs or names, left


def check_targets(tx: Tx, workspace_id: str, targets: Targets) -> BadTarget | None:
    """Say what is wrong with the first target that cannot be: unknown, disabled, or no channel of it."""
    accounts = accounts_of(tx, workspace_id, targets)
    for target in targets:
        account_id, channel = (target, None) if isinstance(target, str) else target
        account = accounts.get(account_id)
        if account is None:
            return BadTarget(account_id, f"there is no account {account_id!r}: it may be deleted")
        if account.state == GONE:
            return BadTarget(account_id, _is_gone(account))
        if channel is None and not default_channels(account):
            return BadTarget(account_id, f"{_name(account)} has no channel for posts: name one")
        if channel is not None and channel not in _channels(account, channel):
            return BadTarget(
                account_id, f"{_name(account)} ({account.provider}) cannot publish on {channel}"
            )
    return None


def resolve_targets(tx: Tx, workspace_id: str, targets: Targets) -> list[tuple[str, Channel]]:
    """Turn accounts into pairs of account and channel; pairs stay as they are."""
    accounts = accounts_of(tx, workspace_id, [each for each in targets if isinstance(each, str)])
    pairs: list[tuple[str, Channel]] = []
    for each in targets:
        if not isinstance(each, str):
            pairs.append(each)
            continue
        if each not in accounts:
            raise UnknownAccountError(f"the workspace has no account {each!r}")
        pairs.extend((each, channel) for channel in default_channels(accounts[each]))
    return list(dict.fromkeys(pairs))


def default_channels(account: Account) -> tuple[Channel, ...]:
    """Return where an account publishes when nobody says where."""
    settings: dict[str, Any] = msgspec.json.decode(account.settings)
    if settings.get("channels"):
        return tuple(normalise(name) for name in settings["channels"])
    adapter = all_providers().get(account.provider)
    if adapter is None:
        return ()
    usual = [
        channel
        for channel in adapter.channels
        if channel not in ONLY_WHEN_ASKED and not adapter.capabilities(channel).needs_recipient
    ]
    if Channel.LINKEDIN_PROFILE in usual:
        is_person = "organization" not in account.remote_id
        return (Channel.LINKEDIN_PROFILE if is_person else Channel.LINKEDIN_ORGANIZATION,)
    return tuple(usual)


def _channels(account: Account, requested: Channel) -> tuple[Channel, ...]:
    """Return what its network can; of a network that is not installed, nothing is known."""
    adapter = all_providers().get(account.provider)
    return (requested,) if adapter is None else tuple(adapter.channels)


def _is_gone(account: Account) -> str:
    return f"{_name(account)} is disconnected: connect it again, or leave it out"


def _name(account: Account) -> str:
    return account.handle or account.id


def accounts_of(tx: Tx, workspace_id: str, targets: Targets) -> dict[str, Account]:
    """Read the accounts of targets, by id; what is not there is left out."""
    wanted = {each if isinstance(each, str) else each[0] for each in targets}
    found = read_accounts(tx, ((workspace_id, id_) for id_ in wanted)) if wanted else {}
    return {id_: account for (_, id_), account in found.items()}
