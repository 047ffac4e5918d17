// What an audit says about one limit, in plain words.
import type { Schemas } from "../../api/client";
import { t } from "../../messages/limits";

type Worst = Schemas["AuditView"]["worst"][number];
const kinds = ["hour", "day", "week", "rolling_day", "rate", "gap"];

/** A kind of limit that has no words of its own. */
export const kindName = (kind: string): string | null => (kinds.includes(kind) ? null : kind.replaceAll("_", " "));

/** "5 of 20", or for a gap "10 min, at least 6 min" */
export function reachedWords({ kind, reached, limit }: Pick<Worst, "kind" | "reached" | "limit">): string {
  if (kind === "gap") return t("gapReached", { reached: Math.round(reached / 6) / 10, limit: Math.round(limit / 6) / 10 });
  return t("reachedOf", { reached: Math.round(reached), limit });
}
