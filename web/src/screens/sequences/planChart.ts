// A plan by account and day, as a chart takes it and as words say it.
import { actionName } from "../accounts/limits";
import { addDays, longDay } from "../../ui/times";
import type { Plan } from "./useSequence";
import { t } from "../../messages/sequences";

type Day = Plan["days"][number];
const MOST = 120; // days drawn: a plan of a year is told by its words

export interface AccountPlan {
  account_id: string;
  action: string;
  places: string[];
  marks: { at: number; name: string }[];
  planned: number[];
  others: number[];
  expected: number[];
  caps: (number | null)[];
  message: string;
}

/** One chart for each account and kind of message, every day from the first to the last. */
export function chartsOf(days: readonly Day[]): AccountPlan[] {
  const groups = new Map<string, Day[]>();
  for (const day of days) {
    const key = `${day.account_id} ${day.action}`;
    groups.set(key, [...(groups.get(key) ?? []), day]);
  }
  return [...groups.values()].map(chartOf);
}

function chartOf(found: readonly Day[]): AccountPlan {
  const byDay = new Map(found.map((each) => [each.day, each]));
  const sorted = [...byDay.keys()].toSorted();
  const [first = "", last = ""] = [sorted[0], sorted.at(-1)];
  const dates: string[] = [];
  for (let day = first; day <= last && dates.length < MOST; day = addDays(day, 1)) dates.push(day);
  const of = (name: "planned" | "others" | "expected") => dates.map((day) => byDay.get(day)?.[name] ?? 0);
  const [planned, others, expected] = [of("planned"), of("others"), of("expected")];
  const [one] = found;
  const full = found.filter(({ cap, planned: own, others: rest, expected: later }) => cap !== null && own + rest + later >= cap).length;
  const caps = dates.map((day) => byDay.get(day)?.cap ?? one?.cap ?? null);
  const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0);
  return {
    account_id: one?.account_id ?? "",
    action: one?.action ?? "",
    places: dates.map(longDay),
    marks: dates.flatMap((day, at) => (at % 7 === 0 ? [{ at, name: short(day) }] : [])),
    planned,
    others,
    expected,
    caps,
    message: t("planSummary", { action: actionName(one?.action ?? ""), planned: sum(planned), expected: sum(expected), others: sum(others), days: found.length, full, capped: caps.some((cap) => cap !== null) ? "yes" : "no" }),
  };
}

function short(day: string): string {
  const [, date = "", month = ""] = longDay(day).split(" ");
  return `${date} ${month.slice(0, 3)}`;
}

const limits: Record<string, string> = {
  hours: t("boundByHours"),
  recipient_hours: t("boundByRecipientHours"),
  gap: t("boundByGap"),
  hour_cap: t("boundByHour"),
  day_cap: t("boundByDay"),
  week_cap: t("boundByWeek"),
  rolling_day_cap: t("boundByRollingDay"),
};

/** What keeps most messages from an earlier time. */
export const bindingWords = (binding: string | null): string | null => (binding === null ? null : (limits[binding] ?? t("boundBySomething", { limit: binding })));
