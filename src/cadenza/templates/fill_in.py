"""Renders deliveries that name a frozen version: the words are made when they are needed, not when they are planned.

A delivery's content then holds `variables`, and what belongs to its recipient: name, fields, unsubscribe link, options.
Versions never change, so those read last are kept in memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from cadenza.deliveries.contents import Unrenderable
from cadenza.deliveries.model import Delivery
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key
from cadenza.templates.model import TemplateVersion
from cadenza.templates.render import Incomplete, renderer_of
from cadenza.templates.store import load_versions

KEPT = 256  # versions
_GONE = Unrenderable("its template version is gone")
_kept: dict[Key, TemplateVersion] = {}


class Reference(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a delivery keeps besides the version."""

    variables: dict[str, str | int | float]
    recipient_name: str = ""
    recipient_fields: dict[str, str] = {}
    unsubscribe_url: str | None = None
    options: dict[str, Any] = {}  # over the version's own, such as the thread that a mail answers
    subject: str | None = None  # instead of the version's own: that of the thread

    def content(self) -> str:
        """Return it as a delivery's content."""
        return msgspec.json.encode(self, order="sorted").decode()


_decoder = msgspec.json.Decoder(Reference)


def fill_in(tx: Tx, deliveries: Sequence[Delivery]) -> dict[Key, str | Unrenderable]:
    """Return the content of each, complete for its channel, or why there is none."""
    versions = _versions(
        tx, {(each.workspace_id, each.template_version_id or "") for each in deliveries}
    )
    return {each.key: _render(each, versions) for each in deliveries}


def _render(delivery: Delivery, versions: Mapping[Key, TemplateVersion]) -> str | Unrenderable:
    version = versions.get((delivery.workspace_id, delivery.template_version_id or ""))
    if version is None:
        return _GONE
    try:
        known = _decoder.decode(delivery.content)
    except msgspec.DecodeError as error:
        return Unrenderable(f"its variables cannot be read: {error}")
    variables: dict[str, Any] = dict(known.variables)
    if known.unsubscribe_url is not None:
        variables["unsubscribe_url"] = known.unsubscribe_url
    made = renderer_of(version.compiled, delivery.channel).render(variables)
    if isinstance(made, Incomplete):
        return Unrenderable(made.message)
    if known.subject is not None:
        made = replace(made, subject=known.subject)
    return made.content(
        recipient_name=known.recipient_name,
        recipient_fields=known.recipient_fields,
        unsubscribe_url=known.unsubscribe_url,
        options=known.options,
    )


def _versions(tx: Tx, wanted: set[Key]) -> dict[Key, TemplateVersion]:
    missing = wanted - _kept.keys()
    for workspace_id in {workspace_id for workspace_id, _ in missing}:
        ids = [id_ for workspace, id_ in missing if workspace == workspace_id]
        for id_, version in load_versions(tx, workspace_id, ids).items():
            _kept[workspace_id, id_] = version
    found = {key: _kept[key] for key in wanted if key in _kept}
    while len(_kept) > KEPT:
        del _kept[next(iter(_kept))]
    return found
