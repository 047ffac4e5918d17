// How instants are said: always in a named zone, never in the browser's by accident.
import type { Schemas } from "../api/client";
import { t } from "../messages/ui";

export type Mark = Schemas["Mark"];
const cache = new Map<string, Intl.DateTimeFormat>();

function format(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = zone + JSON.stringify(options);
  let made = cache.get(key);
  if (made === undefined) {
    made = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hourCycle: "h23", ...options });
    cache.set(key, made);
  }
  return made;
}

const DAY = 24 * 60;
const later = (at: Date, minutes: number) => new Date(at.getTime() + minutes * 60_000);
const date = (at: string | Date) => (typeof at === "string" ? new Date(at) : at);

export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** "09:00"; of an hour that clocks repeat, "02:30 (1st)" and "02:30 (2nd)" */
export function clock(at: string | Date, zone: string): string {
  const said = format(zone, { hour: "2-digit", minute: "2-digit" }).format(date(at));
  const which = whichOfTwo(date(at), zone);
  return which === null ? said : t("clockTwice", { time: said, which });
}

/** A wall time as a form holds it: "2026-11-16T09:00" */
export function wallTime(at: string | Date, zone: string): string {
  return `${localDay(at, zone)}T${clock(at, zone).slice(0, 5)}`;
}

/** "Mon 16 Nov" */
export function dayName(at: string | Date, zone: string): string {
  return format(zone, { weekday: "short", day: "numeric", month: "short" }).format(date(at)).replace(",", "");
}

/** "Mon 16 Nov, 09:00" */
export function moment(at: string | Date, zone: string): string {
  return `${dayName(at, zone)}, ${clock(at, zone)}`;
}

/** "Mon 16 Nov, 09:00 Berlin": where nothing else on the screen names the zone. */
export function momentThere(at: string | Date, zone: string): string {
  return `${moment(at, zone)} ${placeOf(zone)}`;
}

/** "Monday 16 November 2026" of a local date such as "2026-11-16". */
export function longDay(day: string): string {
  return format("UTC", { weekday: "long", day: "numeric", month: "long", year: "numeric" }).format(new Date(`${day}T12:00Z`)).replace(",", "");
}

/** The local date there: "2026-11-16". */
export function localDay(at: string | Date, zone: string): string {
  const parts = Object.fromEntries(
    format(zone, { year: "numeric", month: "2-digit", day: "2-digit" }).formatToParts(date(at)).map((each) => [each.type, each.value]),
  );
  return `${parts.year}-${parts.month}-${parts.day}`;
}

export function addDays(day: string, count: number): string {
  const at = new Date(`${day}T12:00Z`);
  at.setUTCDate(at.getUTCDate() + count);
  return at.toISOString().slice(0, 10);
}

/** "Today", "Tomorrow", or the long name of a local date. */
export function dayWords(day: string, today: string): string {
  if (day === today) return t("todayDay", { day: longDay(day) });
  if (day === addDays(today, 1)) return t("tomorrowDay", { day: longDay(day) });
  return longDay(day);
}

/** Minutes that a zone is ahead of UTC at an instant. */
export function offset(at: Date, zone: string): number {
  const name = format(zone, { timeZoneName: "longOffset" }).formatToParts(at).find((each) => each.type === "timeZoneName")?.value;
  const found = /GMT([+-])(\d{2}):?(\d{2})?/.exec(name ?? "");
  if (found === null) return 0;
  return (found[1] === "-" ? -1 : 1) * (Number(found[2]) * 60 + Number(found[3] ?? 0));
}

/** Where clocks go back, the same wall time comes twice: which of the two an instant is; null: it comes once. */
function whichOfTwo(at: Date, zone: string): "first" | "second" | null {
  const [before, after] = [offset(later(at, -DAY), zone), offset(later(at, DAY), zone)];
  const back = before - after;
  if (back <= 0) return null;
  if (offset(at, zone) === before) return offset(later(at, back), zone) === after ? "first" : null;
  return offset(later(at, -back), zone) === before ? "second" : null;
}

/** By how many minutes the clocks of a zone move during a local date: 60 in spring, -60 in autumn, else 0. */
export function clockChange(day: string, zone: string): number {
  // Offsets are below 15 hours, so these two instants enclose the local day, give or take one change.
  const before = new Date(`${day}T00:00Z`).getTime();
  const start = new Date(before - offset(new Date(before), zone) * 60_000);
  const after = new Date(`${addDays(day, 1)}T00:00Z`).getTime();
  const end = new Date(after - offset(new Date(after), zone) * 60_000 - 60_000);
  return offset(end, zone) - offset(start, zone);
}

export function clockChangeWords(change: number): string | null {
  if (change === 0) return null;
  return t("clocksGo", { direction: change > 0 ? "forward" : "back", minutes: Math.abs(change) });
}

/** "in 5 min", "3 h ago" */
export function fromNow(at: string | Date, now: Date): string {
  const seconds = Math.round((date(at).getTime() - now.getTime()) / 1000);
  const size = Math.abs(seconds);
  if (size < 45) return seconds < 0 ? t("justNow") : t("inAMoment");
  const span =
    size < 5400 ? t("minutes", { minutes: Math.max(1, Math.round(size / 60)) }) : size < 129_600 ? t("hours", { hours: Math.round(size / 3600) }) : t("days", { days: Math.round(size / 86_400) });
  return seconds < 0 ? t("ago", { span }) : t("in", { span });
}

/** "3 h ago" of something that happened: the server's clock may be ahead of this one, and it is still past. */
export function ago(at: string | Date, now: Date): string {
  return date(at).getTime() >= now.getTime() ? t("justNow") : fromNow(at, now);
}

/** "Auckland", from "Pacific/Auckland". */
export function placeOf(zone: string): string {
  return (zone.split("/").pop() ?? zone).replaceAll("_", " ");
}

const INSTANT = /(?:\bat )?(\d{4}-\d\d-\d\d) (\d\d:\d\d)(?::\d\d)? UTC/g;

/** The server's words, its instants (it says them in UTC) on the clock of a zone: "it was sent Mon 16 Nov, 09:00 Berlin". */
export const onClock = (words: string, zone: string): string =>
  words.replace(INSTANT, (_, day: string, time: string) => `${moment(`${day}T${time}Z`, zone)} ${placeOf(zone)}`);
