"""How large a file may be, for the machine's sake; what a network takes is smaller and its adapter's to say.

A picture is opened whole, so its pixels are bounded by memory: 50 million take about 150 MB while it is
looked at. The defaults hold everything that the networks take.
"""

from dataclasses import dataclass

from cadenza.providers.message import MediaKind

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The owner's settings."""

    image_bytes: int = 30 * MIB
    gif_bytes: int = 30 * MIB
    video_bytes: int = 1024 * MIB
    document_bytes: int = 100 * MIB
    pixels: int = 50_000_000
    side: int = 20_000
    frames: int = 2_000
    all_pixels: int = 1_000_000_000  # of all frames together
    workspace_bytes: int | None = None  # of a workspace's files together
    thumbnail_side: int = 480

    @property
    def most(self) -> int:
        """Return what an upload may have before its type is known."""
        return max(self.image_bytes, self.gif_bytes, self.video_bytes, self.document_bytes)

    def bytes_of(self, kind: MediaKind) -> int:
        """Return what a file of this kind may have."""
        return {
            MediaKind.IMAGE: self.image_bytes,
            MediaKind.GIF: self.gif_bytes,
            MediaKind.VIDEO: self.video_bytes,
            MediaKind.DOCUMENT: self.document_bytes,
        }[kind]
