// What an API key may be allowed to do, in groups as people think of it. A test compares this list with the
// server's own (x-scope in openapi.json), so that none is forgotten.
export interface ScopeGroup {
  name: string;
  read?: string;
  write?: string;
  more?: { scope: string; says: string }[];
}

export const scopeGroups: ScopeGroup[] = [
  {
    name: "Posts",
    read: "posts:read",
    write: "posts:write",
    more: [
      { scope: "posts:approve", says: "approve" },
      { scope: "posts:publish", says: "publish now" },
    ],
  },
  { name: "Media", read: "media:read", write: "media:write" },
  { name: "Rules", read: "rules:read", write: "rules:write" },
  { name: "Calendar", read: "calendar:read" },
  { name: "Queues", read: "queue:read", write: "queue:write" },
  { name: "Deliveries", read: "deliveries:read", write: "deliveries:write" },
  { name: "Accounts", read: "accounts:read", write: "accounts:write" },
  { name: "Workspace", read: "workspace:read", write: "workspace:write" },
  { name: "Events", read: "events:read" },
  { name: "Webhooks", read: "webhooks:read" },
  { name: "People", read: "people:read" },
  { name: "Audit log", read: "audit:read" },
  { name: "Export", read: "export:read", write: "export:write" },
  { name: "Assistants", more: [{ scope: "mcp:write", says: "use the MCP endpoint" }] },
];

export const allScopes: string[] = scopeGroups.flatMap(({ read, write, more }) =>
  [read, write, ...(more ?? []).map((each) => each.scope)].filter((each) => each !== undefined),
);
