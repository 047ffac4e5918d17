"""Media for the pipeline: what `deliveries/render.py` asks of files, answered from the storage.

Adapters read bytes; networks that fetch themselves get an address signed at the moment the message is
rendered, from the bucket where there is one, else from this instance's public address. An instance
that has no public address gives none, and the adapter says so before anything is sent.
"""

import mimetypes
from datetime import timedelta

from cadenza.core.clock import Clock
from cadenza.media.fit import fit
from cadenza.media.public import LASTS, Signer, sign_public_url
from cadenza.media.storage import Storage
from cadenza.media.upload import UploadDesk
from cadenza.providers.fit_picture import FittedFile, PictureChange


class MediaFiles:
    """The `Files` of the pipeline. `home` is where this instance listens, `public_base` where the world finds it."""

    def __init__(
        self,
        storage: Storage,
        *,
        clock: Clock,
        signer: Signer | None = None,
        public_base: str | None = None,
        home: str = "http://127.0.0.1",
        lasts: timedelta = LASTS,
        desk: UploadDesk | None = None,
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._signer = signer
        self._base = public_base
        self._home = home
        self._lasts = lasts
        self._desk = desk

    async def read(self, name: str) -> bytes:
        """Return a file's bytes."""
        return await self._storage.read(name)

    async def fit(self, name: str, change: PictureChange) -> FittedFile | None:
        """Return the file changed to what a channel takes; None: it cannot be."""
        return None if self._desk is None else await fit(self._desk, name, change)

    def public_url(self, name: str) -> str | None:
        """Return an address for networks that fetch; None: there is no way in from outside."""
        own = self._storage.public_url(name, now=self._clock.now(), lasts=self._lasts)
        if own is not None or self._base is None:
            return own
        return self._signed(self._base, name)

    def own_url(self, name: str) -> str | None:
        """Return an address at which whoever reaches this instance can fetch the file."""
        return self._signed(self._home, name)

    def _signed(self, base: str, name: str) -> str | None:
        if self._signer is None:
            return None
        return sign_public_url(
            self._signer,
            base,
            file=name,
            mime=mimetypes.guess_type(name)[0] or "application/octet-stream",
            expires_at=self._clock.now() + self._lasts,
        )
