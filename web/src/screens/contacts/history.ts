// What is stored about a person, as one story: newest first, both ways, whatever the channel.
import type { Schemas } from "../../api/client";

export interface Happened {
  key: string;
  kind: "sent" | "received";
  channel: string;
  /** How a message stands, or what came in. */
  state: string;
  at: string;
  text: string;
}

type Data = Pick<Schemas["PersonData"], "sent" | "received" | "audiences" | "suppressions">;
type Row = Record<string, unknown>;

const text = (row: Row, name: string): string => (typeof row[name] === "string" ? row[name] : "");

export function historyOf(data: Data): { events: Happened[]; audiences: string[]; suppressions: { channel: string; reason: string }[] } {
  const sent = (data.sent as Row[]).map((row): Happened => {
    const content = (row.content ?? {}) as Row;
    return {
      key: text(row, "id"),
      kind: "sent",
      channel: text(row, "channel"),
      state: text(row, "state"),
      at: text(row, "sent_at") || text(row, "due_at"),
      text: [text(content, "subject"), text(content, "text")].filter((part) => part !== "").join("\n"),
    };
  });
  const received = (data.received as Row[]).map((row, at): Happened => ({
    key: `received ${at}`,
    kind: "received",
    channel: text(row, "channel"),
    state: text(row, "kind"),
    at: text(row, "happened_at"),
    text: [text(row, "subject"), text(row, "text") || text(row, "diagnostic")].filter((part) => part !== "").join("\n"),
  }));
  return {
    events: [...sent, ...received].toSorted((one, other) => (one.at < other.at ? 1 : -1)),
    audiences: (data.audiences as Row[]).map((row) => text(row, "name")),
    suppressions: (data.suppressions as Row[]).map((row) => ({ channel: text(row, "channel"), reason: text(row, "reason") })),
  };
}
