import { weekdayNames } from "../../ui/weekdays";
import type { Word } from "../../ui/words";
import { t } from "../../messages/jobs";

export const often = 5_000; // milliseconds: jobs belong to the application, whose events no workspace hears

const states: Record<string, Word> = {
  waiting: { message: t("waiting"), colour: "blue" },
  running: { message: t("running"), colour: "cyan" },
  done: { message: t("done"), colour: "teal" },
  failed: { message: t("failed"), colour: "red" },
  canceled: { message: t("canceled"), colour: "gray" },
};

export const jobWord = (state: string): Word => states[state] ?? { message: state, colour: "gray" };

/** "every 15 min", or the cron expression with its zone. */
export function recurrenceWords(recurrence: unknown): string {
  if (typeof recurrence !== "object" || recurrence === null) return String(recurrence);
  const { every, cron, zone } = recurrence as { every?: number; cron?: string; zone?: string };
  if (typeof every === "number") return t("everySpan", { span: spanWords(every) });
  if (typeof cron === "string") return cronWords(cron, zone);
  return JSON.stringify(recurrence);
}

/** "90 s" -> "90 s", 900 -> "15 min", 86400 -> "1 day". */
export function spanWords(seconds: number): string {
  if (seconds >= 86_400 && seconds % 86_400 === 0) return seconds === 86_400 ? t("day") : t("secondsDays", { seconds: seconds / 86_400 });
  if (seconds >= 3600 && seconds % 3600 === 0) return seconds === 3600 ? t("hour") : `${seconds / 3600} h`;
  if (seconds >= 60 && seconds % 60 === 0) return seconds === 60 ? t("minute") : t("secondsMin", { seconds: seconds / 60 });
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
    if (minute === "*") return t("everyMinute");
    if (step !== undefined && 60 % Number(step) === 0) return t("everyStepMinutes", { step });
    return number.test(minute) ? t("everyHourMinutePast", { minute }) : itself;
  }
  if (!number.test(minute) || !number.test(hour)) return itself;
  const at = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}${place}`;
  if (weekday === "*") return t("dailyAtAt", { at });
  return number.test(weekday) && Number(weekday) <= 7 ? t("weekdaySAtAt", { weekday: weekdayNames[Number(weekday) % 7] ?? "", at }) : itself;
}

const tasks: Record<string, string> = {
  generate_posts: t("createsThePostsThatRulesPlan"),
  generate_workspace: t("createsOneWorkspacesPostsWhen"),
  prune_exchanges: t("deletesNetworkRequestsAndResponses"),
  sweep_answers: t("deletesSavedApiResponsesThatHave"),
  sweep_media: t("deletesFilesThatNothingHasUsed"),
  watch_posts: t("warnsAboutPostsThatCantBe"),
  watch_queues: t("warnsAboutQueuesThatAreRunning"),
};

/** What one of the product's own tasks does; undefined for those of other programs. */
export const taskWords = (task: string): string | undefined => tasks[task];

const missed: Record<string, string> = { once: t("missedRunsAreCombinedIntoOne"), all: t("everyMissedRunIsMadeUp"), skip: t("missedRunsAreSkipped") };
const overlaps: Record<string, string> = { skip: t("neverOverlaps"), buffer: t("oneMoreCanWait"), allow: t("canOverlap") };

/** The policies of a schedule in words. */
export function policyWords(schedule: { missed: string; overlap: string }): string {
  return `${missed[schedule.missed] ?? `missed: ${schedule.missed}`}, ${overlaps[schedule.overlap] ?? `overlap: ${schedule.overlap}`}`;
}
