// Where a dropped post comes to rest: on a free slot when one is near, else where it was let go, timed by hand.
import { localDay } from "../../ui/times";
import type { Ghost } from "./useCalendar";

const NEAR = 90 * 60_000;
const STEP = 15 * 60_000;

export interface Landing {
  at: Date;
  /** The slot that it takes; null: between slots, so it is timed by hand. */
  slot: Pick<Ghost, "account_id" | "at"> | null;
}

interface How {
  /** Whose slots: of one account, or of any. */
  accountId: string | null;
  zone: string;
  /** Only days can be told apart: the nearest slot of that day counts. */
  byDay: boolean;
  /** The slot that it stands in now: near it, it goes back there. */
  own?: Pick<Ghost, "account_id" | "at"> | null;
}

/**
 * A grid of hours tells where a hand is by the line under it, so one pixel may be a whole line: what was let go is moved by
 * quarters of an hour, the nearest, from where it stood; what stood nowhere comes to rest on one.
 */
export function toQuarter(to: Date, from: Date | null): Date {
  const start = from?.getTime() ?? 0;
  return new Date(start + Math.round((to.getTime() - start) / STEP) * STEP);
}

/** On a grid of hours the nearest slot within an hour and a half; on a grid of days the nearest of that day. */
export function land(to: Date, ghosts: readonly Ghost[], { accountId, zone, byDay, own = null }: How): Landing {
  const day = localDay(to, zone);
  const free = ghosts.filter((ghost) => (accountId === null || ghost.account_id === accountId) && ghost.kind === "empty");
  const away = (slot: Pick<Ghost, "at">) => Math.abs(Date.parse(slot.at) - to.getTime());
  const [near] = [...free, ...(own === null ? [] : [own])]
    .filter((slot) => (byDay ? localDay(slot.at, zone) === day : away(slot) <= NEAR))
    .sort((one, other) => away(one) - away(other));
  return near === undefined ? { at: to, slot: null } : { at: new Date(near.at), slot: near };
}
