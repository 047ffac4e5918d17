"""What Instagram lets one choose of a post or a reel; a story is a channel of its own."""

from cadenza.core.channels import Channel
from cadenza.providers.option import Option, Takes

OPTIONS = (
    Option(
        name="share_to_feed",
        label="A reel shows",
        takes=Takes.CHOICE,
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
)
