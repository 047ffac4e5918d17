import { useQuery } from "@tanstack/react-query";

import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { t } from "../../messages/contacts";

export type Contact = Schemas["ContactView"];
export type Condition = Schemas["ConditionInput"];

export const CONTACTS = "/api/v1/workspaces/{workspace_id}/contacts";
export const CONTACT = "/api/v1/workspaces/{workspace_id}/contacts/{contact_id}";

export function useContact(contact_id: string) {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "contact", contact_id],
    queryFn: () => take(api.GET(CONTACT, { params: { path: { workspace_id, contact_id } } })),
  });
}

export function useFields() {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "contact-fields"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/contact-fields", { params: { path: { workspace_id } } })),
  });
}

/** How many people conditions hold for. */
export function useCount(filter: readonly Condition[]) {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "contacts", "count", filter],
    queryFn: () => take(api.POST(`${CONTACTS}/count`, { params: { path: { workspace_id } }, body: { filter: [...filter] } })),
    retry: false,
    staleTime: 60_000,
  });
}

export const consents = [
  { value: "given", label: t("consentGiven") },
  { value: "unknown", label: t("consentUnknown") },
  { value: "refused", label: t("consentRefused") },
] as const;

export const consentName = (consent: string): string => consents.find(({ value }) => value === consent)?.label ?? consent;

/** What to call somebody of whom only an address may be known. */
export const nameOf = ({ name, addresses }: Pick<Contact, "name" | "addresses">): string => (name === "" ? (addresses[0]?.written ?? t("noName")) : name);
