// What an event or an act makes stale: by what it is about, the resources (the second word of a query's key) that may look
// different after it. Null, and what is not known here, makes everything stale: what is new is shown late by nobody.
import type { QueryClient } from "@tanstack/react-query";

const plans = ["attention", "calendar", "deliveries", "delivery", "missed", "posts", "dry-run", "queue", "resume-preview", "runway", "story", "undated"];
const accounts = ["accounts", "limits", "use"];
const campaigns = ["campaign", "campaigns", "recipients"];
const contacts = ["audiences", "contact", "contact-history", "contacts", "recipient-channels"];
const sequences = ["sequence", "sequences", "sequence-contacts", "sequence-plan", "sequence-report"];
const rules = ["categories", "pool", "rule-plan", "rules"];

const touched = {
  account: [...accounts, ...plans, "check", "preview"],
  audience: ["audiences", "audience-members", "dry-run"],
  calendar_feed: [],
  campaign: [...campaigns, ...accounts, "attention", "deliveries", "dry-run"],
  category: [...rules, ...plans, "check", "preview"],
  channel: ["recipient-channels", "audiences"],
  contact: [...contacts, ...sequences, "audience-members", "contact-notes", "suppression"],
  contact_export: ["contact-exports"],
  contact_field: ["contact-fields", ...contacts],
  contact_import: ["contact-imports", "import-rows", ...contacts],
  conversation: ["conversation", "conversations"],
  delivery: [...campaigns, ...sequences, "contact-history", ...plans, ...accounts, "system"],
  export: ["exports"],
  import: ["contact-imports", "import-rows", ...contacts],
  inbox: ["conversation", "conversations", "contact-history", ...sequences],
  invitation: ["invitations", "members"],
  job: ["jobs", "system"],
  key: ["keys"],
  limit: [...accounts, ...plans],
  mailbox: ["mailbox"],
  me: [], // what is one's own lies under no workspace
  media: ["attention", "check", "library", "media", "pool", "posts", "preview"],
  message: [...plans, "contact-history"],
  member: ["invitations", "members"],
  notices: ["notices"],
  outreach: [...sequences, ...plans, "outreach-limits"],
  post: plans,
  queue: [...plans, ...accounts],
  sequence: [...sequences, ...accounts, "contact-history", "attention", "deliveries"],
  suppression: ["suppression", "contact-history", ...sequences],
  template: ["template", "template-preview", "templates", "dry-run"],
  rule: [...rules, ...plans],
  webhook: ["webhooks"],
  workspace: null,
} satisfies Record<string, readonly string[] | null>;

/** What something may be about: the first word of an event's kind. */
export type About = keyof typeof touched;

const known: Readonly<Record<string, readonly string[] | null | undefined>> = touched;

/** Read what these touch again, as far as it is shown. */
export function readAnew(queries: QueryClient, workspaceId: string, about: Iterable<string>): Promise<void> {
  const resources = [...about].map((each) => known[each] ?? null);
  const stale = new Set(resources.flatMap((each) => each ?? []));
  const all = resources.includes(null);
  if (all) void queries.invalidateQueries({ queryKey: ["me"] }); // it says whether all sending is held
  return queries.invalidateQueries({ queryKey: [workspaceId], predicate: ({ queryKey }) => all || stale.has(String(queryKey[1])) });
}
