// Where a dropped post comes to rest: on a free slot of its account when one is near, else where it was let go.
import { localDay } from "../../ui/times";
import type { Ghost } from "./useCalendar";

const NEAR = 90 * 60_000;

/** On a grid of hours the nearest slot within an hour and a half; on a grid of days the nearest of that day. */
export function snap(to: Date, ghosts: readonly Ghost[], accountId: string, zone: string, byDay: boolean): Date {
  const day = localDay(to, zone);
  const near = ghosts
    .filter((ghost) => ghost.account_id === accountId && ghost.kind === "empty")
    .map((ghost) => new Date(ghost.at))
    .filter((at) => (byDay ? localDay(at, zone) === day : Math.abs(at.getTime() - to.getTime()) <= NEAR))
    .sort((one, other) => Math.abs(one.getTime() - to.getTime()) - Math.abs(other.getTime() - to.getTime()));
  return near[0] ?? to;
}
