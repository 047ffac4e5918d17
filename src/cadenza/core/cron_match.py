"""Find the next wall-clock second that fits cron fields; no zones here, whole numbers only.

A wall second counts from 1970-01-01 00:00:00 on the clock on the wall. Days are found by
a bit mask per month shape (month, length, first weekday), times by look-up tables, so a
step costs about a microsecond. Limit: nothing is found after the year 2099.
"""

from calendar import monthrange
from datetime import date

from cadenza.core.cron_parse import Fields, Special

LAST_YEAR = 2099
DAY_SECONDS = 86_400
_EPOCH = date(1970, 1, 1).toordinal()
_LAST_DAY = date(LAST_YEAR, 12, 31).toordinal() - _EPOCH
_LONGEST_MONTH = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class WallMatcher:
    """The tables of one expression."""

    __slots__ = ("_every_day", "_fields", "_first", "_hours", "_masks", "_minutes", "_seconds")

    def __init__(self, fields: Fields) -> None:
        self._fields: Fields = fields
        self._hours: list[int] = _at_or_after(fields.hours, 24)
        self._minutes: list[int] = _at_or_after(fields.minutes, 60)
        self._seconds: list[int] = _at_or_after(fields.seconds, 60)
        self._first: int = fields.hours[0] * 3600 + fields.minutes[0] * 60 + fields.seconds[0]
        self._masks: dict[tuple[int, int, int], int] = {}
        self._every_day: bool = _fits_every_day(fields)

    def first_from(self, wall: int) -> int | None:
        """Return the first fitting wall second that is not before `wall`."""
        today, time = divmod(wall, DAY_SECONDS)
        day = self._day_from(today)
        if day == today:
            found = self._time_from(time)
            if found >= 0:
                return today * DAY_SECONDS + found
            day = self._day_from(today + 1)
        return None if day is None else day * DAY_SECONDS + self._first

    def fits(self, wall: int) -> bool:
        """Say whether this very second fits."""
        return self.first_from(wall) == wall

    def _time_from(self, time: int) -> int:
        """Return the first fitting second of the day from `time` on, or -1."""
        minute_of_day, second = divmod(time, 60)
        hour, minute = divmod(minute_of_day, 60)
        if self._hours[hour] == hour:
            if self._minutes[minute] == minute:
                found = self._seconds[second]
                if found >= 0:
                    return time - second + found
            found = self._minutes[minute + 1]
            if found >= 0:
                return hour * 3600 + found * 60 + self._seconds[0]
        found = self._hours[hour + 1]
        return found if found < 0 else found * 3600 + self._first % 3600

    def _day_from(self, day: int) -> int | None:
        if day > _LAST_DAY:
            return None
        if self._every_day:
            return day
        start = date.fromordinal(day + _EPOCH)
        year, month = start.year, start.month
        mask = self._mask(year, month) >> start.day << start.day
        while not mask:
            month += 1
            if month > 12:
                year, month = year + 1, 1
                if year > LAST_YEAR:
                    return None
            mask = self._mask(year, month)
        lowest = (mask & -mask).bit_length() - 1
        return date(year, month, lowest).toordinal() - _EPOCH

    def _mask(self, year: int, month: int) -> int:
        """Return the fitting days of a month as bits 1 to 31."""
        if month not in self._fields.months:
            return 0
        monday_based, length = monthrange(year, month)
        shape = (month, length, (monday_based + 1) % 7)
        mask = self._masks.get(shape)
        if mask is None:
            mask = self._masks[shape] = _month_mask(self._fields, *shape)
        return mask


def _at_or_after(values: tuple[int, ...], size: int) -> list[int]:
    """Return for each number (and for `size` itself) the first value from it on, or -1."""
    table = [-1] * (size + 1)
    for number in range(size - 1, -1, -1):
        table[number] = number if number in values else table[number + 1]
    return table


def _fits_every_day(fields: Fields) -> bool:
    every_date, every_weekday = len(fields.days) == 31, len(fields.weekdays) == 7
    return len(fields.months) == 12 and every_date and every_weekday and not fields.nth_filter


def _month_mask(fields: Fields, month: int, length: int, first: int) -> int:
    every = (2 << length) - 2
    by_date = _date_mask(fields, length, first)
    by_weekday = _weekday_mask(fields, length, first)
    any_day = fields.any_day
    if fields.open_by_length:
        named = len(fields.days) + len(fields.special_days)
        any_day = named >= _LONGEST_MONTH[month]
    if fields.any_weekday:
        mask = by_date & every
    elif any_day:
        mask = by_weekday & every
    else:
        mask = (by_date | by_weekday) & every
    if fields.nth_filter:
        mask &= 0b11111110 << 7 * (fields.nth_filter - 1)
    return mask


def _date_mask(fields: Fields, length: int, first: int) -> int:
    mask = sum(1 << day for day in fields.days)
    if Special.LAST_DAY in fields.special_days:
        mask |= 1 << length
    if Special.LAST_WORKDAY in fields.special_days:
        weekday = (first + length - 1) % 7
        back = {6: 1, 0: 2}.get(weekday, 0)  # Saturday: the day before; Sunday: two before
        mask |= 1 << length - back
    return mask


def _weekday_mask(fields: Fields, length: int, first: int) -> int:
    mask = 0
    for day in range(1, length + 1):
        weekday = (first + day - 1) % 7
        fits = (
            weekday in fields.weekdays
            or (weekday in fields.last_weekdays and day + 7 > length)
            or (weekday, (day + 6) // 7) in fields.nth_weekdays
        )
        mask |= fits << day
    return mask
