// What came in, in plain words.
import { t } from "../../messages/contacts";

const words: Record<string, string> = {
  reply: t("reply"),
  out_of_office: t("outOfOffice"),
  unsubscribe: t("unsubscribed"),
  hard_bounce: t("hardBounce"),
  soft_bounce: t("softBounce"),
  policy_bounce: t("policyBounce"),
  content_bounce: t("contentBounce"),
  complaint: t("complaint"),
  accepted: t("acceptedRequest"),
  delivered: t("arrived"),
  delayed: t("delayed"),
  open: t("opened"),
  click: t("clicked"),
};

export const inboundWord = (kind: string): string => words[kind] ?? t("message");
