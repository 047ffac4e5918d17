"""Opens the media library that the settings name: its storage, the desk for uploads, files for the pipeline.

Networks that fetch media themselves get an address under `public_url`; while that is not set they get
none, and their adapters say so before anything is sent.
"""

from dataclasses import dataclass

from cadenza.accounts.seal import Keyring
from cadenza.bootstrap.outbound import MEDIA
from cadenza.config.model import Settings
from cadenza.core.clock import Clock
from cadenza.engine.threads import Threads
from cadenza.media.files import MediaFiles
from cadenza.media.open import open_storage
from cadenza.media.public import Signer
from cadenza.media.storage import Storage
from cadenza.media.upload import AT_ONCE, UploadDesk
from cadenza.providers.http.client import OutboundClient
from cadenza.sql.transactions import Operations


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """Media, ready for the API, the pipeline and the sweep."""

    storage: Storage
    desk: UploadDesk  # where uploads are taken in
    files: MediaFiles  # as the pipeline reads them
    signer: Signer  # opens the addresses that networks come back with
    threads: Threads

    def close(self) -> None:
        """Let idle threads end."""
        self.threads.close()


def open_library(
    settings: Settings,
    *,
    operations: Operations,
    http: OutboundClient,
    clock: Clock,
    keyring: Keyring,
) -> Library:
    """Open what the settings name."""
    threads = Threads(AT_ONCE)
    storage = open_storage(settings, http=http.for_use(MEDIA), clock=clock, threads=threads)
    signer = Signer.from_keyring(keyring)
    desk = UploadDesk(operations=operations, storage=storage, threads=threads)
    return Library(
        storage=storage,
        desk=desk,
        files=MediaFiles(
            storage,
            clock=clock,
            signer=signer,
            public_base=settings.public_url or None,
            home=settings.home,
            desk=desk,
        ),
        signer=signer,
        threads=threads,
    )
