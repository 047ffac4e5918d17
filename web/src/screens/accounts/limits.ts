// The words for limits, and where a form of them goes wrong.
import type { Schemas } from "../../api/client";
import { t } from "../../messages/accounts";

export type Limit = Schemas["Limit"];

export const actions: { value: Limit["action"]; label: string }[] = [
  { value: "*", label: t("allActions") },
  { value: "post", label: t("posts") },
  { value: "email", label: t("emails") },
  { value: "message", label: t("messages") },
  { value: "connection_request", label: t("connectionRequests") },
  { value: "inmail", label: "InMails" },
  { value: "broadcast", label: t("broadcasts") },
];

export const kinds: { value: Limit["kind"]; label: string }[] = [
  { value: "hour", label: t("perHour") },
  { value: "day", label: t("perDay") },
  { value: "week", label: t("perWeek") },
  { value: "rolling_day", label: t("inAny24Hours") },
  { value: "rate", label: t("perSeconds") },
  { value: "gap", label: t("secondsBetween") },
];

export const actionName = (action: string): string => actions.find(({ value }) => value === action)?.label ?? action;

/** "at most 10 a day" */
export function limitWords({ kind, amount, per_seconds: per }: Limit): string {
  if (kind === "gap") return amount >= 60 && amount % 60 === 0 ? t("atLeastMinutesApart", { amount: amount / 60 }) : t("atLeastSecondsApart", { amount });
  if (kind === "rate") return t("atMostAmountPerSeconds", { amount, per: per ?? 1 });
  return t("atMost", { amount, kind });
}

/** Say what is wrong with a list of limits, before the server has to. */
export function faultOf(limits: readonly Limit[]): string | null {
  const seen = new Set<string>();
  for (const { action, kind } of limits) {
    const key = `${action} ${kind}`;
    if (seen.has(key)) return t("actionTheSameLimitIsListed", { action: actionName(action) });
    seen.add(key);
  }
  return null;
}
