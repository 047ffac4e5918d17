"""How Threads refuses: Meta's table, a code for too many links, and names on a container that went bad."""

from cadenza.providers.errors import Row, rejected
from cadenza.providers.meta.errors import TOO_MANY_LINKS, table
from cadenza.providers.outcome import Outcome, Rejected, Transient

TABLE = table(
    "Threads", Row(None, TOO_MANY_LINKS, None, rejected, "At most five different links are taken")
)

# What `error_message` of a container may be; the spelling is theirs.
PASSING = frozenset(
    {"FAILED_DOWNLOADING_VIDEO", "FAILED_PROCESSING_AUDIO", "FAILED_PROCESSING_VIDEO", "UNKNOWN"}
)
LASTING = {
    "INVALID_ASPEC_RATIO": "The file's proportions are not taken",
    "INVALID_BIT_RATE": "The video's bit rate is not taken",
    "INVALID_DURATION": "The video is too long or too short",
    "INVALID_FRAME_RATE": "The video's frame rate is not taken",
    "INVALID_AUDIO_CHANNELS": "The sound's channels are not taken",
    "INVALID_AUDIO_CHANNEL_LAYOUT": "The sound's channels are not taken",
}


def blame(message: str) -> Outcome:
    """Say what a container's error means."""
    if message in LASTING:
        return Rejected(f"{LASTING[message]}.", message)
    detail = (
        f"Threads could not prepare this post ({message if message in PASSING else 'UNKNOWN'})."
    )
    return Transient(detail, restart=True)
