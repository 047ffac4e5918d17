// The words for limits, and where a form of them goes wrong.
import type { Schemas } from "../../api/client";
import { count } from "../../ui/words";

export type Limit = Schemas["Limit"];

export const actions: { value: Limit["action"]; label: string }[] = [
  { value: "*", label: "Everything together" },
  { value: "post", label: "Posts" },
  { value: "email", label: "E-mails" },
  { value: "message", label: "Messages" },
  { value: "connection_request", label: "Connection requests" },
  { value: "inmail", label: "InMails" },
  { value: "broadcast", label: "Broadcasts" },
];

export const kinds: { value: Limit["kind"]; label: string }[] = [
  { value: "hour", label: "an hour" },
  { value: "day", label: "a day" },
  { value: "week", label: "a week" },
  { value: "rolling_day", label: "in any 24 hours" },
  { value: "rate", label: "per seconds" },
  { value: "gap", label: "seconds apart" },
];

export const actionName = (action: string): string => actions.find(({ value }) => value === action)?.label ?? action;

/** "at most 10 a day" */
export function limitWords({ kind, amount, per_seconds: per }: Limit): string {
  if (kind === "gap") return amount >= 60 && amount % 60 === 0 ? `${count(amount / 60, "minute")} apart` : `${count(amount, "second")} apart`;
  if (kind === "rate") return `at most ${amount} per ${per ?? 1} seconds`;
  return `at most ${amount} ${kinds.find(({ value }) => value === kind)?.label ?? kind}`;
}

/** Say what is wrong with a list of limits, before the server has to. */
export function faultOf(limits: readonly Limit[]): string | null {
  const seen = new Set<string>();
  for (const { action, kind } of limits) {
    const key = `${action} ${kind}`;
    if (seen.has(key)) return `${actionName(action)} has the same kind of limit twice.`;
    seen.add(key);
  }
  return null;
}
