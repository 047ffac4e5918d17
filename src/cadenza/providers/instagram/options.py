"""What Instagram lets one choose of a post or a reel; a story is a channel of its own.

A form brings texts, a program numbers, yes and no, and lists; all are written as the Graph reads them.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from cadenza.core.channels import Channel
from cadenza.providers.option import Option, OptionType

OPTIONS = (
    Option(
        name="share_to_feed",
        label="A reel shows",
        takes=OptionType.CHOICE,
        choices=(("true", "Among the reels and in the feed"), ("false", "Among the reels only")),
        channels=(Channel.INSTAGRAM_FEED,),
    ),
    Option(
        name="thumb_offset",
        label="Still picture of a reel",
        hint="Milliseconds from its start",
        channels=(Channel.INSTAGRAM_FEED,),
    ),
    Option(
        name="cover_url",
        label="Cover of a reel",
        hint="A picture's public address",
        channels=(Channel.INSTAGRAM_FEED,),
    ),
    Option(
        name="location_id",
        label="Place",
        hint="The id of the place's Facebook page",
        channels=(Channel.INSTAGRAM_FEED,),
    ),
    Option(
        name="collaborators",
        label="Collaborators",
        takes=OptionType.TEXTS,
        hint="Up to three accounts' names",
        channels=(Channel.INSTAGRAM_FEED,),
    ),
)
LISTS = ("collaborators", "user_tags")


def written(options: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    """Write the chosen ones of these names; what is empty was not chosen."""
    found = {name: _written(name, options.get(name)) for name in names}
    return {name: text for name, text in found.items() if text}


def listed(value: Any) -> list[Any]:
    """Read a list, also one that is written as text: in JSON, or as names with commas between."""
    if not isinstance(value, str):
        return list(value) if isinstance(value, list | tuple) else []
    try:
        read = json.loads(value)
    except ValueError:
        read = None
    if isinstance(read, list):
        return read
    names = (each.strip().removeprefix("@") for each in value.split(","))
    return [each for each in names if each]


def _written(name: str, value: Any) -> str:
    if name in LISTS:
        items = listed(value)
        return json.dumps(items) if items else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
