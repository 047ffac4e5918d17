// The words on the composer's button: the result, before it is pressed.
import { clock, dayName, placeOf } from "../../ui/times";
import { count } from "../../ui/words";
import type { Way } from "./carryOut";
import type { Post } from "./content";
import type { NextSlot } from "./foresee";

/** "Tue 12 May 09:00 Auckland" */
export const placeTime = (at: string, zone: string): string => `${dayName(at, zone)} ${clock(at, zone)} ${placeOf(zone)}`;

export function labelOf(said: {
  way: Way;
  slots: NextSlot[] | undefined;
  at: string | null;
  zone: string;
  approved: boolean;
  previews: readonly unknown[];
  post: Post | null;
}): string {
  const { way, at, zone } = said;
  switch (way) {
    case "queue": {
      const free = said.slots?.filter((each) => each.at !== null) ?? [];
      const first = free[0];
      if (first?.at === undefined || first.at === null) return "Add to queue";
      const more = free.length > 1 ? ` and ${free.length - 1} more` : "";
      return `Add to queue: ${placeTime(first.at, first.zone)}${more}`;
    }
    case "slot":
      return at === null ? "Add to queue" : `Add to queue: ${placeTime(at, zone)}`;
    case "time":
      return at === null ? "Schedule" : `Schedule: ${placeTime(at, zone)}`;
    case "now": {
      const what = said.approved ? "Publish now" : "Approve and publish now";
      return said.previews.length > 1 ? `${what} in ${count(said.previews.length, "place")}` : what;
    }
    case "draft":
      return "Save as a draft";
    case "save": {
      const next = said.post?.scheduled_at;
      return next === null || next === undefined ? "Save" : `Save: goes out ${placeTime(next, zone)}`;
    }
  }
}
