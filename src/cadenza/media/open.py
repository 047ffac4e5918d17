"""From the settings to the storage that they name: a folder, or a bucket.

A bucket's endpoint may stand in a private network; the client that is handed in must allow it.
"""

from cadenza.config.load import BadSettings
from cadenza.config.model import Settings
from cadenza.core.clock import Clock
from cadenza.engine.threads import Threads
from cadenza.media.disk import DiskStorage
from cadenza.media.s3 import Bucket, S3Storage
from cadenza.media.sign_s3 import Credentials
from cadenza.media.storage import Storage
from cadenza.providers.http.client import OutboundClient

REGION = "us-east-1"  # what stores without regions answer to


def open_storage(
    settings: Settings, *, http: OutboundClient, clock: Clock, threads: Threads
) -> Storage:
    """Open what `media.storage` names, or say which settings are missing."""
    media = settings.media
    if media.storage != "s3":
        return DiskStorage(settings.media_folder, threads=threads)
    named = {"endpoint": media.endpoint, "bucket": media.bucket, "access_key": media.access_key}
    missing = [f"media.{name}" for name, value in named.items() if not value]
    if media.secret_key is None:
        missing.append("media.secret_key")
    if missing or media.secret_key is None:
        raise BadSettings([f"media.storage = s3 needs {', '.join(missing)}: set them"])
    credentials = Credentials(media.access_key, media.secret_key, media.region or REGION)
    bucket = Bucket(endpoint=media.endpoint, name=media.bucket, credentials=credentials)
    return S3Storage(bucket, http=http, clock=clock, threads=threads)
