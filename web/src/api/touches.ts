// What an event or an act makes stale: by what it is about, the resources (the second word of a query's key) that may look
// different after it. Null, and what is not known here, makes everything stale: what is new is shown late by nobody.
import type { QueryClient } from "@tanstack/react-query";

const plans = ["attention", "calendar", "deliveries", "delivery", "missed", "posts", "dry-run", "queue", "resume-preview", "runway", "story", "undated"];
const accounts = ["accounts", "limits", "use"];
const rules = ["categories", "pool", "rule-plan", "rules"];

const touched = {
  account: [...accounts, ...plans, "check", "preview"],
  calendar_feed: [],
  category: [...rules, ...plans, "check", "preview"],
  delivery: [...plans, ...accounts, "system"],
  export: ["exports"],
  invitation: ["invitations", "members"],
  job: ["jobs", "system"],
  key: ["keys"],
  limit: [...accounts, ...plans],
  me: [], // what is one's own lies under no workspace
  media: ["attention", "check", "library", "media", "pool", "posts", "preview"],
  member: ["invitations", "members"],
  notices: ["notices"],
  post: plans,
  queue: [...plans, ...accounts],
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
