// The hours of an account's actions as a form holds them: the usual ones, always open, or its own.
import type { Account } from "../../api/accounts";
import { weekdays } from "../../ui/weekdays";
import type { Limit } from "./limits";
import { t } from "../../messages/accounts";

export type Hours = NonNullable<Account["hours"][string]>;
export type AllHours = Account["hours"];
export type Way = "usual" | "always" | "own";

const office: Hours = { start: "09:00", end: "18:00", days: [1, 2, 3, 4, 5] };

export function wayOf(hours: AllHours, action: string): Way {
  const said = hours[action];
  return said === undefined ? "usual" : said === null ? "always" : "own";
}

/** Give an action a way; its own hours begin as office hours. Left out is the usual. */
export function withWay(hours: AllHours, action: string, way: Way): AllHours {
  const { [action]: said, ...others } = hours;
  if (way === "usual") return others;
  return { ...others, [action]: way === "always" ? null : (said ?? office) };
}

type Told = Pick<Account, "usual_hours">;

/** What holds where nothing else is said; null: at any time. */
const usualHours = ({ usual_hours }: Told, action: Limit["action"]): Hours | null => usual_hours[action as keyof Told["usual_hours"]] ?? null;

/** Which of the hours are in force for an action; null: at any time. */
export const inForce = (hours: AllHours, action: Limit["action"], account: Told): Hours | null => hours[action] === undefined ? usualHours(account, action) : hours[action];

/** "Mon to Fri 09:00 to 18:00", "at any time" */
export function usualWords(account: Told, action: Limit["action"]): string {
  const usual = usualHours(account, action);
  if (usual === null) return t("anyTimeInSentence");
  const names = weekdays.filter(({ day }) => usual.days.includes(Number(day))).map(({ short }) => short);
  const unbroken = names.length > 2 && weekdays.map(({ short }) => short).join().includes(names.join());
  const days = unbroken ? t("dayRange", { first: names[0] ?? "", last: names.at(-1) ?? "" }) : names.join(", ");
  return t("hoursOnDays", { days, start: usual.start.slice(0, 5), end: usual.end.slice(0, 5) });
}

/**
 * Whether any minute of an hour lies in the hours; hours that end before they begin run over midnight, and belong with
 * their morning to the day that they begin on.
 */
export function covers({ start, end, days }: Hours, day: number, hour: number): boolean {
  const minutes = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
  const [from, until] = [minutes(start), minutes(end)];
  const meets = (on: number, begin: number, close: number) => days.includes(on) && hour * 60 < close && (hour + 1) * 60 > begin;
  if (from < until) return meets(day, from, until);
  return meets(day, from, 1440) || meets((day + 6) % 7, 0, until);
}
