// What a column of a file can become.
import { channelName } from "../../ui/words";
import type { ImportKind } from "./useImports";
import { t } from "../../messages/contacts";

const people: readonly { value: string; label: string }[] = [
  { value: "email", label: channelName("email") },
  { value: "first_name", label: t("firstName") },
  { value: "last_name", label: t("lastName") },
  { value: "name", label: t("fullName") },
  { value: "company", label: t("company") },
  { value: "country", label: t("country") },
  { value: "zone", label: t("timeZone") },
  { value: "language", label: t("language") },
  { value: "linkedin", label: "LinkedIn" },
  { value: "telegram", label: "Telegram" },
  { value: "tags", label: t("tags") },
  { value: "consent", label: t("consent") },
  { value: "consent_at", label: t("consentDate") },
  { value: "consent_proof", label: t("consentProof") },
  { value: "source", label: t("source") },
  { value: "source_at", label: t("sourceDate") },
  { value: "source_proof", label: t("sourceProof") },
  { value: "external_id", label: t("externalId") },
];

const channels: readonly { value: string; label: string }[] = [
  { value: "address", label: t("address") },
  { value: "provider", label: t("network") },
  { value: "title", label: t("title") },
  { value: "category", label: t("category") },
];

export function targetsFor(kind: ImportKind, fields: readonly { key: string; label: string }[]): { value: string; label: string }[] {
  if (kind === "channels") return [...channels];
  const own = fields.map(({ key, label }) => ({ value: key, label })).filter(({ value }) => people.every((each) => each.value !== value));
  return [...people, ...own];
}
