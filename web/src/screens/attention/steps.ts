// The words of steps and kinds, and which steps lead to another screen.
import type { Step, Thing } from "./useThings";

interface Said {
  name: string;
  done: string;
  danger?: string;
}

export const steps: Record<Step, Said> = {
  retry: { name: "Try again", done: "Tried again" },
  edit: { name: "Edit the post", done: "" },
  it_is_there: { name: "It is there", done: "Kept as sent" },
  send_again: { name: "It is not there: send again", done: "Sent again", danger: "Look at the account first: if it is there after all, people see it twice." },
  next_slot: { name: "Give it the next slot", done: "Got a new time" },
  publish_now: { name: "Publish now", done: "On its way" },
  to_draft: { name: "Back to the drafts", done: "Back among the drafts" },
  resume: { name: "Resume the queue", done: "The queue runs again" },
  start_workspace: { name: "Let the workspace go on", done: "The workspace goes on" },
  reconnect: { name: "Connect again", done: "" },
  approve: { name: "Approve", done: "Approved" },
  approve_and_publish_now: { name: "Approve and publish now", done: "On its way" },
  add_media: { name: "Add a picture", done: "" },
  delete: { name: "Delete the post", done: "Deleted", danger: "The post is gone everywhere that it is not out yet. This cannot be taken back." },
};

export const kinds: Record<Thing["kind"], { name: string; says: string }> = {
  account: { name: "Accounts", says: "They cannot send, or soon cannot." },
  needs_check: { name: "In doubt", says: "We do not know whether these arrived. Look at the account and say so." },
  held: { name: "Held", says: "They are due, and something keeps them." },
  unapproved: { name: "Waiting for approval", says: "Due within a day, and nobody approved them." },
  blocked: { name: "Something is missing", says: "These posts cannot go out as they are." },
  failed: { name: "Failed", says: "The network refused them, or we gave up." },
  missed: { name: "Missed", says: "Their time passed before they could go." },
};

/** Where a step is done that the list cannot do; null: right here. */
export function elsewhere(thing: Thing, step: Step, workspaceId: string): string | null {
  if (step === "edit" || step === "add_media") return `/w/${workspaceId}/compose/${thing.post_id ?? thing.subject_id}`;
  if (step === "reconnect") return `/w/${workspaceId}/accounts?account=${thing.pill?.account_id ?? thing.subject_id}`;
  return null;
}

/** What many things have in common: the first step that each of them has and that is done right here. */
export function commonStep(things: readonly Thing[]): Step | null {
  const [first, ...others] = things;
  return first?.steps.find((step) => elsewhere(first, step, "") === null && steps[step].danger === undefined && others.every((each) => each.steps.includes(step))) ?? null;
}
