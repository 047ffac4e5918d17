import type { Schemas } from "../../api/client";
import { t } from "../../messages/inbox";

export const labels = [
  { value: "interested", label: t("interested") },
  { value: "not_now", label: t("notNow") },
  { value: "wrong_person", label: t("wrongPerson") },
] as const;

export const labelName = (label: string): string => labels.find(({ value }) => value === label)?.label ?? label;

/** Who wrote: their name, else their address. */
export const whoIs = ({ name, address }: Pick<Schemas["ConversationView"], "name" | "address">): string => (name !== "" ? name : address !== "" ? address : t("unknownSender"));
