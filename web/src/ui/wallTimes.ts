// Wall times as people type them: a day, and a time such as "9:15", "0915" or "9.15 pm".

/** "09:15" of what was typed; null: it is no time. */
export function readTime(typed: string): string | null {
  const found = /^(\d{1,2})(?:\s*[:.h]?\s*(\d{2}))?\s*(am|pm)?$/i.exec(typed.trim());
  if (found === null) return null;
  const [, hours = "", minutes = "00", half] = found;
  const hour = half === undefined ? Number(hours) : onTwelveHours(Number(hours), half.toLowerCase() === "pm");
  if (hour === null || hour > 23 || Number(minutes) > 59) return null;
  return `${String(hour).padStart(2, "0")}:${minutes}`;
}

function onTwelveHours(hour: number, afternoon: boolean): number | null {
  if (hour < 1 || hour > 12) return null;
  return (hour % 12) + (afternoon ? 12 : 0);
}

/** Something is typed, and it is no time yet: a form says so instead of taking it for none. */
export const UNFINISHED = "unfinished";

/** "2026-11-16T09:15" of a day and a typed time; empty: nothing is typed. A day alone counts only where it was typed. */
export function joinWall(day: string, typed: string, isDayGiven = false): string {
  if (typed.trim() === "" && (day === "" || isDayGiven)) return "";
  const time = readTime(typed);
  return /^\d{4}-\d\d-\d\d$/.test(day) && time !== null ? `${day}T${time}` : UNFINISHED;
}

export const isWhole = (wall: string): boolean => wall !== "" && wall !== UNFINISHED;
