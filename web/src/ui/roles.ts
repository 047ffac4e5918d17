// The roles in plain words, the least first.
export const roles = ["viewer", "editor", "admin", "owner"] as const;
export type Role = (typeof roles)[number];

const words: Record<Role, { name: string; says: string }> = {
  viewer: { name: "Viewer", says: "sees everything, changes nothing" },
  editor: { name: "Editor", says: "writes, approves and sends" },
  admin: { name: "Admin", says: "also connects accounts and lets people in" },
  owner: { name: "Owner", says: "may do everything" },
};

export const roleWord = (role: string): string => words[role as Role]?.name ?? role;

/** The roles that somebody may give: up to their own. */
export function roleChoices(own: string): { value: Role; label: string }[] {
  return roles
    .slice(0, roles.indexOf(own as Role) + 1)
    .map((value) => ({ value, label: `${words[value].name}: ${words[value].says}` }));
}
