"""Where media are read from: a folder on the disk.

Names are relative and stay inside the folder; a name that points out of it is refused as not there.
"""

from dataclasses import dataclass
from pathlib import Path

from cadenza.config.load import BadSettings
from cadenza.config.model import Settings
from cadenza.deliveries.render import Files


@dataclass(frozen=True, slots=True)
class DiskFiles:
    """Media as files of one folder."""

    folder: Path

    async def read(self, name: str) -> bytes:
        """Read a file whole."""
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder.resolve()):
            raise FileNotFoundError(name)
        return path.read_bytes()


def open_files(settings: Settings) -> Files:
    """Open what the settings name."""
    if settings.media.storage == "s3":
        raise BadSettings(["media.storage = s3 is not served yet: use disk"])
    return DiskFiles(settings.media_folder)
