// What an API key may be allowed to do, in groups as people think of it. A test compares this list with the
// server's own (x-scope in openapi.json), so that none is forgotten.
import { t } from "../../messages/settings";

export interface ScopeGroup {
  name: string;
  read?: string;
  write?: string;
  more?: { scope: string; message: string }[];
}

export const scopeGroups: ScopeGroup[] = [
  {
    name: t("posts"),
    read: "posts:read",
    write: "posts:write",
    more: [
      { scope: "posts:approve", message: t("approve") },
      { scope: "posts:publish", message: t("publishNow") },
    ],
  },
  { name: t("media"), read: "media:read", write: "media:write" },
  { name: t("rules"), read: "rules:read", write: "rules:write" },
  { name: t("calendar"), read: "calendar:read" },
  {
    name: t("contacts"),
    read: "contacts:read",
    write: "contacts:write",
    more: [{ scope: "contacts:export", message: t("exportContacts") }],
  },
  {
    name: t("templates"),
    read: "templates:read",
    write: "templates:write",
    more: [{ scope: "messages:send", message: t("sendMessages") }],
  },
  { name: t("campaigns"), read: "campaigns:read", write: "campaigns:write" },
  { name: t("outreach"), read: "sequences:read", write: "sequences:write" },
  { name: t("inbox"), read: "inbox:read", write: "inbox:write" },
  { name: t("queues"), read: "queue:read", write: "queue:write" },
  { name: t("sentAndPlannedPosts"), read: "deliveries:read", write: "deliveries:write" },
  { name: t("accounts"), read: "accounts:read", write: "accounts:write" },
  { name: t("workspace"), read: "workspace:read", write: "workspace:write" },
  { name: t("events"), read: "events:read" },
  { name: t("webhooks"), read: "webhooks:read" },
  { name: t("people"), read: "people:read" },
  { name: t("auditLog"), read: "audit:read" },
  { name: t("export"), read: "export:read", write: "export:write" },
  { name: t("assistants"), more: [{ scope: "mcp:write", message: t("useTheMcpEndpoint") }] },
];

export const allScopes: string[] = scopeGroups.flatMap(({ read, write, more }) =>
  [read, write, ...(more ?? []).map((each) => each.scope)].filter((each) => each !== undefined),
);
