// The words on the composer's button: the result, before it is pressed.
import { clock, dayName, placeOf } from "../../ui/times";
import type { Way } from "./carryOut";
import type { Post } from "./content";
import type { Went } from "./foresee";
import { t } from "../../messages/composer";

/** "Tue 12 May 09:00 Auckland" */
export const placeTime = (at: string, zone: string): string => `${dayName(at, zone)} ${clock(at, zone)} ${placeOf(zone)}`;

interface Told {
  way: Way;
  /** What the dry run came to; undefined: it is not known yet. */
  places: readonly Went[] | undefined;
  approving: boolean;
  post: Post | null;
  zone: string;
  /** A channel would refuse it: no time is promised. */
  blocked?: boolean;
  reworded?: boolean;
}

export function labelOf({ way, places = [], approving, post, zone, blocked = false, reworded = true }: Told): string {
  if (blocked) places = [];
  switch (way) {
    case "queue":
    case "slot":
      return withTimes(t("addToQueue"), places);
    case "time":
      return withTimes(t("schedule"), places);
    case "now": {
      const what = approving ? t("approveAndPublishNow") : t("publishNow");
      const going = places.filter((each) => each.outcome === "now").length;
      return going > 1 ? t("whatToAccounts", { what, going }) : what;
    }
    case "draft":
      return t("saveAsDraft");
    case "save": {
      const next = post?.scheduled_at;
      return next === null || next === undefined || blocked ? t("save") : t("saveGoesOutTime", { time: placeTime(next, zone) });
    }
    case "again":
      return reworded ? t("saveAndTryAgain") : t("tryAgain");
  }
}

/** "Add to queue: Tue 12 May 09:00 Auckland", "Add to queue: 3 accounts, first Tue 12 May 09:00 Auckland" */
function withTimes(what: string, places: readonly Went[]): string {
  const timed = places
    .flatMap(({ account_id, at, zone, outcome }) => (outcome !== "refused" && outcome !== "already" && typeof at === "string" ? [{ account_id, at, zone: zone ?? "UTC" }] : []))
    .sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const first = timed[0];
  if (first === undefined) return what;
  const when = placeTime(first.at, first.zone);
  const accounts = new Set(timed.map((each) => each.account_id)).size;
  if (accounts === 1) return `${what}: ${when}`;
  const together = timed.every((each) => Date.parse(each.at) === Date.parse(first.at));
  return together ? t("allAt", { what, accounts, when }) : t("firstAt", { what, accounts, when });
}
