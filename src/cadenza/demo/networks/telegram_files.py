"""How Telegram looks at files: by their bytes, with its own sentences; albums of two to ten."""

from typing import Any

from cadenza.demo.networks.telegram_model import MOST, PHOTOS, TelegramRefused, bad, in_album
from cadenza.demo.simulator.sniff import sniff
from cadenza.demo.simulator.wire import Part

ITEM_FIELDS = {"type", "media", "caption", "parse_mode", "has_spoiler"}


def check_file(kind: str, file: Part | None) -> None:
    """Refuse a file that this kind of message cannot hold."""
    if file is None or not file.data:
        raise bad("wrong file identifier/HTTP URL specified")
    if len(file.data) > MOST[kind]:
        raise TelegramRefused(413, "Request Entity Too Large")
    if kind != "photo":
        return
    found = sniff(file.data)
    if found is None or found.mime not in PHOTOS:
        raise bad("IMAGE_PROCESS_FAILED")
    if found.width and found.height:
        small, large = sorted((found.width, found.height))
        if small + large > 10_000 or large > 20 * small:
            raise bad("PHOTO_INVALID_DIMENSIONS")


def check_album(items: Any, files: dict[str, Part]) -> list[dict[str, Any]]:
    """Return an album's items, or refuse the whole."""
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise bad("can't parse media JSON object")
    if len(items) < 2:
        raise bad("media group must include 2-10 items")
    if len(items) > 10:
        raise bad("too many messages to send as an album")
    kinds = {item.get("type") for item in items}
    if not kinds <= {"photo", "video", "document"} or any(set(i) - ITEM_FIELDS for i in items):
        raise bad("can't parse InputMedia")
    if "document" in kinds and len(kinds) > 1:
        raise bad("document can't be mixed with other media types")
    for number, item in enumerate(items, 1):
        name = str(item.get("media", "")).removeprefix("attach://")
        try:
            check_file(item["type"], files.get(name))
        except TelegramRefused as refused:
            inner = refused.words.removeprefix("Bad Request: ")
            raise in_album(number, inner[:1].upper() + inner[1:]) from None
    return items
