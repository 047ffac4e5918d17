// What a campaign's progress comes to, in plain words.
import { fromNow, moment, placeOf } from "../../ui/times";
import type { Campaign } from "./useCampaign";
import { t } from "../../messages/campaigns";

export type Progress = Campaign["progress"];

const bounds: Record<string, string> = {
  delivery_rate: t("boundByRate"),
  accounts: t("boundByAccounts"),
  not_after_at: t("boundByLastTime"),
  pause: t("boundByPause"),
};

/** What decides when it ends. */
export const boundWords = (bound: string | null): string | null => (bound === null ? null : (bounds[bound] ?? null));

/** "Done Thu 19 Nov, 14:20 Berlin (in 3 h)" */
export function finishWords(at: string | null, zone: string, now: Date): string | null {
  return at === null ? null : t("doneAt", { time: `${moment(at, zone)} ${placeOf(zone)}`, when: fromNow(at, now) });
}

export interface Outcome {
  key: "sent" | "failed" | "unconfirmed" | "missed" | "skipped" | "canceled" | "waiting";
  name: string;
  colour: string;
}

/** In the order in which they stand in a bar: what went well first, what is still open last. */
export const outcomes: readonly Outcome[] = [
  { key: "sent", name: t("sent"), colour: "teal.8" },
  { key: "unconfirmed", name: t("unconfirmed"), colour: "orange.7" },
  { key: "failed", name: t("failed"), colour: "red.8" },
  { key: "missed", name: t("missed"), colour: "grape.7" },
  { key: "skipped", name: t("skipped"), colour: "gray.6" },
  { key: "canceled", name: t("canceled"), colour: "dark.3" },
  { key: "waiting", name: t("waiting"), colour: "gray.4" },
];

/** Everybody, in one sentence for those who do not see the bar: "1,200 of 2,000 sent, 3 failed". */
export function progressWords(progress: Progress): string {
  const parts = outcomes.filter(({ key }) => key !== "sent" && progress[key] > 0).map(({ key, name }) => `${progress[key].toLocaleString("en")} ${name.toLowerCase()}`);
  return [t("sentOfTotal", { sent: progress.sent, total: progress.total }), ...parts].join(", ");
}
