"""The removal of what campaigns sent long ago, as a job, in batches. A run that is cut short is repeated."""

import logging
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from cadenza.bootstrap.model import Runtime
from cadenza.campaigns.purge import purge_some

log = logging.getLogger("cadenza.campaigns")


async def purge_campaigns(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Remove until nothing is left to remove."""
    step = partial(
        purge_some,
        workspace_id=str(payload["workspace_id"]),
        sent_before=datetime.fromisoformat(str(payload["sent_before"])),
    )
    removed = 0
    while some := await runtime.operations.run(step):
        removed += some
    log.info("old messages of campaigns removed", extra={"removed": removed})
