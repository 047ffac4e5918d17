import type { Word } from "../../ui/words";

export const often = 5_000; // milliseconds: jobs belong to the house, whose events no workspace hears

const states: Record<string, Word> = {
  waiting: { says: "Waiting", colour: "blue" },
  running: { says: "Running", colour: "cyan" },
  done: { says: "Done", colour: "teal" },
  failed: { says: "Failed", colour: "red" },
  canceled: { says: "Cancelled", colour: "gray" },
};

export const jobWord = (state: string): Word => states[state] ?? { says: state, colour: "gray" };

/** "every 15 min", or the cron expression with its zone. */
export function recurrenceWords(recurrence: unknown): string {
  if (typeof recurrence !== "object" || recurrence === null) return String(recurrence);
  const { every, cron, zone } = recurrence as { every?: number; cron?: string; zone?: string };
  if (typeof every === "number") return `every ${spanWords(every)}`;
  if (typeof cron === "string") return zone === undefined ? cron : `${cron} (${zone})`;
  return JSON.stringify(recurrence);
}

/** "90 s" -> "90 s", 900 -> "15 min", 86400 -> "1 day". */
export function spanWords(seconds: number): string {
  if (seconds >= 86_400 && seconds % 86_400 === 0) return seconds === 86_400 ? "day" : `${seconds / 86_400} days`;
  if (seconds >= 3600 && seconds % 3600 === 0) return seconds === 3600 ? "hour" : `${seconds / 3600} h`;
  if (seconds >= 60 && seconds % 60 === 0) return seconds === 60 ? "minute" : `${seconds / 60} min`;
  return `${seconds} s`;
}
