// The weekly slots of a form: wall times by weekday (Sunday is 0, as the server counts), with what a slot does
// when the clocks change kept beside it.
export interface Slot {
  time: string; // "09:00"
  gap?: string;
  fold?: string;
}

export type Week = Record<string, Slot[]>;

interface Told {
  hour: number;
  minute: number;
  gap?: string;
  fold?: string;
}

const two = (number: number) => String(number).padStart(2, "0");

export function readWeek(told: Record<string, unknown>): Week {
  const week: Week = {};
  for (const [day, slots] of Object.entries(told))
    week[day] = (slots as Told[]).map(({ hour, minute, ...policy }) => ({ time: `${two(hour)}:${two(minute)}`, ...policy }));
  return week;
}

export function writeWeek(week: Week): Record<string, unknown[]> {
  const told: Record<string, unknown[]> = {};
  for (const [day, slots] of Object.entries(week))
    if (slots.length > 0)
      told[day] = slots.map(({ time, ...policy }) => {
        const [hour, minute] = time.split(":").map(Number);
        return { hour, minute, ...policy };
      });
  return told;
}

/** Add a time to some days; a day that has it already keeps it once. */
export function addTime(week: Week, time: string, days: readonly string[]): Week {
  const next = { ...week };
  for (const day of days) {
    const slots = next[day] ?? [];
    if (slots.some((slot) => slot.time === time)) continue;
    next[day] = [...slots, { time }].sort((one, other) => one.time.localeCompare(other.time));
  }
  return next;
}

export function dropTime(week: Week, day: string, time: string): Week {
  return { ...week, [day]: (week[day] ?? []).filter((slot) => slot.time !== time) };
}

export function countSlots(week: Week): number {
  return Object.values(week).reduce((sum, slots) => sum + slots.length, 0);
}
