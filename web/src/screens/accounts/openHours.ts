// The hours of an account's actions as a form holds them: the usual ones, always open, or its own.
import type { Account } from "../../api/accounts";
import type { Limit } from "./limits";

export type Hours = NonNullable<Account["hours"][string]>;
export type AllHours = Account["hours"];
export type Way = "usual" | "always" | "own";

const office: Hours = { start: "09:00", end: "18:00", days: [1, 2, 3, 4, 5] };
const people: readonly Limit["action"][] = ["email", "message", "connection_request", "inmail"];

/** What holds where nothing else is said (accounts/hours.py): people are written to in office hours, null is always. */
export const usualHours = (action: Limit["action"]): Hours | null => (people.includes(action) ? office : null);

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

/** Which of the hours are in force for an action; null: at any time. */
export const inForce = (hours: AllHours, action: Limit["action"]): Hours | null => hours[action] === undefined ? usualHours(action) : hours[action];

/** "Mon to Fri 09:00 to 18:00", "at any time" */
export const usualWords = (action: Limit["action"]): string => (usualHours(action) === null ? "at any time" : `Mon to Fri ${office.start} to ${office.end}`);

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
