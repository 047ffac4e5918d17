// The roles in plain words, the least first.
import { t } from "../messages/ui";

export const roles = ["viewer", "editor", "admin", "owner"] as const;
export type Role = (typeof roles)[number];

const words: Record<Role, { name: string; message: string }> = {
  viewer: { name: t("viewer"), message: t("canSeeEverything") },
  editor: { name: t("editor"), message: t("canWriteApproveAndSend") },
  admin: { name: t("admin"), message: t("canAlsoConnectAccountsAndInvite") },
  owner: { name: t("owner"), message: t("canDoEverything") },
};

export const roleWord = (role: string): string => words[role as Role]?.name ?? role;

/** The roles that somebody may give: up to their own. */
export function roleChoices(own: string): { value: Role; label: string }[] {
  return roles
    .slice(0, roles.indexOf(own as Role) + 1)
    .map((value) => ({ value, label: `${words[value].name}: ${words[value].message}` }));
}
