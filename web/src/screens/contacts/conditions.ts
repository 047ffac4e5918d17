// The conditions of a saved filter, in words and with what each can be compared by.
import type { Condition } from "./useContacts";
import { t } from "../../messages/contacts";

type Op = NonNullable<Condition["op"]>;

export const opNames: Record<Op, string> = {
  is: t("opIs"),
  is_not: t("opIsNot"),
  begins: t("opBegins"),
  at_least: t("opAtLeast"),
  at_most: t("opAtMost"),
  set: t("opSet"),
  not_set: t("opNotSet"),
};

export interface Subject {
  value: string;
  label: string;
  ops: readonly Op[];
}

const equal: readonly Op[] = ["is", "is_not"];
const known: readonly Op[] = ["is", "is_not", "set", "not_set"];

export const subjects: readonly Subject[] = [
  { value: "tag", label: t("tag"), ops: equal },
  { value: "consent", label: t("consent"), ops: equal },
  { value: "channel", label: t("reachableBy"), ops: equal },
  { value: "company", label: t("company"), ops: ["is", "is_not", "begins", "set", "not_set"] },
  { value: "country", label: t("country"), ops: known },
  { value: "language", label: t("language"), ops: known },
  { value: "domain", label: t("domain"), ops: equal },
  { value: "source", label: t("source"), ops: known },
];

/** All that a workspace can filter by: what everybody has, and its own fields. */
export function subjectsWith(fields: readonly { key: string; label: string; kind: string }[]): Subject[] {
  const own = fields.map(({ key, label, kind }): Subject => ({ value: `fields.${key}`, label, ops: kind === "number" || kind === "date" ? ["is", "at_least", "at_most", "set", "not_set"] : known }));
  return [...subjects, ...own];
}

/** "Tag is customer and consent is given" */
export function filterWords(filter: readonly { what: string; op?: string; value?: unknown }[], all: readonly Subject[]): string {
  const parts = filter.map(({ what, op = "is", value }) => {
    const name = all.find((each) => each.value === what)?.label ?? what;
    return [name, opNames[op as Op], op === "set" || op === "not_set" ? "" : String(value ?? "")].filter((part) => part !== "").join(" ");
  });
  return parts.join(t("and"));
}
