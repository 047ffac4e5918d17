"""When a mongodb-cron document starts next, as its Node package would say.

Pure: the document's three fields and the worker's clock go in, the next start or None
comes out. Checked against golden vectors of the package. Limit: where it loses runs (all
but the first of several within a gap, a search of over 10,000 steps) it is not followed.
"""

from datetime import datetime, timedelta

from cadenza.core.cron import CronError, Dialect, parse
from cadenza.core.zones import Fold, Zone, as_utc, local

_NO_DELAY = timedelta(0)


def next_start(
    sleep_until: datetime | None,
    interval: str | None,
    repeat_until: datetime | None,
    now: datetime,
    *,
    zone: Zone,
    reprocess_delay: timedelta = _NO_DELAY,
) -> datetime | None:
    """Return the next start in UTC; None when the document is finished.

    The search begins strictly after `sleep_until + reprocess_delay` (no `sleep_until`: now)
    and ends with `repeat_until` inclusive. A start that has passed meanwhile becomes `now`:
    missed runs collapse into one, even beyond `repeat_until`, because the bound is tested
    first. No interval, or one that cannot be read, gives None.
    """
    if not interval:
        return None
    try:
        cron = parse(interval, Dialect.MONGODB_CRON)
    except CronError:
        return None
    now = as_utc(now)
    begin = (now if sleep_until is None else as_utc(sleep_until)) + reprocess_delay
    # It keeps no memory of a first pass: begun within a repeated hour, it runs there too.
    fold = Fold.BOTH if local(begin, zone).fold else Fold.FIRST
    found = cron.next_after(begin, zone, fold=fold)
    if found is None or (repeat_until is not None and found > as_utc(repeat_until)):
        return None
    return max(found, now)
