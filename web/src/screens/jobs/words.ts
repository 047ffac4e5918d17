import { weekdayNames } from "../../ui/weekdays";
import type { Word } from "../../ui/words";

export const often = 5_000; // milliseconds: jobs belong to the application, whose events no workspace hears

const states: Record<string, Word> = {
  waiting: { says: "Waiting", colour: "blue" },
  running: { says: "Running", colour: "cyan" },
  done: { says: "Done", colour: "teal" },
  failed: { says: "Failed", colour: "red" },
  canceled: { says: "Canceled", colour: "gray" },
};

export const jobWord = (state: string): Word => states[state] ?? { says: state, colour: "gray" };

/** "every 15 min", or the cron expression with its zone. */
export function recurrenceWords(recurrence: unknown): string {
  if (typeof recurrence !== "object" || recurrence === null) return String(recurrence);
  const { every, cron, zone } = recurrence as { every?: number; cron?: string; zone?: string };
  if (typeof every === "number") return `every ${spanWords(every)}`;
  if (typeof cron === "string") return cronWords(cron, zone);
  return JSON.stringify(recurrence);
}

/** "90 s" -> "90 s", 900 -> "15 min", 86400 -> "1 day". */
export function spanWords(seconds: number): string {
  if (seconds >= 86_400 && seconds % 86_400 === 0) return seconds === 86_400 ? "day" : `${seconds / 86_400} days`;
  if (seconds >= 3600 && seconds % 3600 === 0) return seconds === 3600 ? "hour" : `${seconds / 3600} h`;
  if (seconds >= 60 && seconds % 60 === 0) return seconds === 60 ? "minute" : `${seconds / 60} min`;
  return `${seconds} s`;
}

/** "every 15 minutes", "daily at 03:41 UTC"; an expression that says more is shown as it is. */
export function cronWords(cron: string, zone?: string): string {
  const parts = cron.trim().split(/\s+/);
  const place = zone === undefined ? "" : ` ${zone}`;
  const itself = zone === undefined ? cron : `${cron} (${zone})`;
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = parts;
  if (parts.length !== 5 || day !== "*" || month !== "*") return itself;
  const step = /^\*\/(\d+)$/.exec(minute)?.[1];
  const number = /^\d+$/;
  if (hour === "*" && weekday === "*") {
    if (minute === "*") return "every minute";
    if (step !== undefined && 60 % Number(step) === 0) return `every ${step} minutes`;
    return number.test(minute) ? `every hour, ${minute} past` : itself;
  }
  if (!number.test(minute) || !number.test(hour)) return itself;
  const at = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}${place}`;
  if (weekday === "*") return `daily at ${at}`;
  return number.test(weekday) && Number(weekday) <= 7 ? `${weekdayNames[Number(weekday) % 7]}s at ${at}` : itself;
}

const tasks: Record<string, string> = {
  generate_posts: "Lays out the posts that rules foresee.",
  generate_workspace: "Lays out one workspace's posts, asked for by somebody.",
  prune_exchanges: "Removes what was said with networks more than thirty days ago.",
  sweep_answers: "Removes kept answers that no program can ask for any more.",
  sweep_media: "Removes files that nothing has used for a month.",
  watch_posts: "Tells of posts that will not go out as they are.",
  watch_queues: "Tells of queues that run dry.",
};

/** What one of the product's own tasks does; undefined for those of other programs. */
export const taskWords = (task: string): string | undefined => tasks[task];

const missed: Record<string, string> = { once: "what was missed runs once", all: "each missed time runs", skip: "missed runs are skipped" };
const overlaps: Record<string, string> = { skip: "never two at a time", buffer: "one more may wait", allow: "may overlap" };

/** The policies of a schedule in words. */
export function policyWords(schedule: { missed: string; overlap: string }): string {
  return `${missed[schedule.missed] ?? `missed: ${schedule.missed}`}, ${overlaps[schedule.overlap] ?? `overlap: ${schedule.overlap}`}`;
}
