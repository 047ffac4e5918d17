"""All claims in one class, for a store's author to inherit from."""

import pytest

from cadenza.engine.testing.conformance.cancel import Canceling
from cadenza.engine.testing.conformance.claim import Claiming
from cadenza.engine.testing.conformance.crashed import CrashedJobs
from cadenza.engine.testing.conformance.debounce import Debouncing
from cadenza.engine.testing.conformance.differential import Differing
from cadenza.engine.testing.conformance.find import Finding
from cadenza.engine.testing.conformance.fire import Firing
from cadenza.engine.testing.conformance.insert import Inserting
from cadenza.engine.testing.conformance.lanes import Lanes
from cadenza.engine.testing.conformance.limit import Limiting
from cadenza.engine.testing.conformance.pace import Pacing
from cadenza.engine.testing.conformance.park import Parking
from cadenza.engine.testing.conformance.pause import Pausing
from cadenza.engine.testing.conformance.prune import Pruning
from cadenza.engine.testing.conformance.renew import Renewing
from cadenza.engine.testing.conformance.report import Reporting
from cadenza.engine.testing.conformance.rescue import Rescuing
from cadenza.engine.testing.conformance.revive import Reviving
from cadenza.engine.testing.conformance.schedules import Schedules
from cadenza.engine.testing.conformance.settle import Settling
from cadenza.engine.testing.conformance.throttle import Throttling
from cadenza.engine.testing.conformance.traits import KeepingTraits
from cadenza.engine.testing.conformance.unique import Uniqueness
from cadenza.engine.testing.conformance.wake import Waking
from cadenza.engine.testing.conformance.workers import Workers


class Conformance(
    Inserting,
    Claiming,
    Settling,
    Renewing,
    Rescuing,
    CrashedJobs,
    Canceling,
    Reviving,
    Pausing,
    Parking,
    Limiting,
    Lanes,
    Uniqueness,
    Throttling,
    Debouncing,
    Pacing,
    Schedules,
    Firing,
    Pruning,
    Reporting,
    Finding,
    Workers,
    Waking,
    KeepingTraits,
    Differing,
):
    """All of it; a subclass brings the fixture `harness`."""

    pytestmark = pytest.mark.asyncio
