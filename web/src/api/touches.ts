// What an event makes stale: by the first word of its kind, the resources (the second word of a query's key) that may
// look different after it. A kind that is not known here makes everything stale: what is new is shown late by nobody.
const plans = ["attention", "calendar", "deliveries", "delivery", "missed", "posts", "queue", "rehearsal", "resume-preview", "runway", "story", "undated"];
const accounts = ["accounts", "limits", "use"];
const rules = ["categories", "pool", "rule-plan", "rules"];

const touched: Record<string, readonly string[]> = {
  account: [...accounts, ...plans, "check", "preview"],
  calendar_feed: [],
  category: [...rules, ...plans, "check", "preview"],
  delivery: [...plans, ...accounts, "system"],
  invitation: ["invitations", "members"],
  key: ["keys"],
  limit: [...accounts, ...plans],
  media: ["attention", "check", "library", "media", "pool", "posts", "preview"],
  member: ["invitations", "members"],
  notices: ["notices"],
  post: plans,
  queue: [...plans, ...accounts],
  rule: [...rules, ...plans],
  webhook: ["webhooks"],
};

/** The resources that an event of this kind touches; null: any. */
export function touchedBy(kind: string): readonly string[] | null {
  return touched[kind.split(".")[0] ?? ""] ?? null;
}
