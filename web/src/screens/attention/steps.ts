// The words of reasons, steps and kinds, and which steps lead to another screen.
import type { Reason, Step, Thing } from "./useThings";

interface Said {
  name: string;
  done: string;
  /** Asked before it is done: it cannot be taken back. */
  ask?: string;
  /** Asked too, and only for one thing at a time: it may do harm. */
  danger?: string;
}

const NOW = "It goes out at once. This cannot be taken back.";

export const steps: Record<Step, Said> = {
  retry: { name: "Try again", done: "Tried again" },
  edit: { name: "Edit the post", done: "" },
  write: { name: "Write the text", done: "" },
  it_is_there: { name: "It was published", done: "Marked as published" },
  send_again: { name: "Not published: send again", done: "Sent again", danger: "Check the account first: if it was published after all, people see it twice." },
  next_slot: { name: "Give it the next slot", done: "Got a new time" },
  publish_now: { name: "Publish now", done: "On its way", ask: NOW },
  to_draft: { name: "Back to the drafts", done: "Back among the drafts" },
  resume: { name: "Resume the queue", done: "The queue runs again" },
  start_workspace: { name: "Let the workspace go on", done: "The workspace goes on" },
  reconnect: { name: "Connect again", done: "" },
  lift_suspension: { name: "Look at the account", done: "" },
  approve: { name: "Approve", done: "Approved" },
  approve_and_publish_now: { name: "Approve and publish now", done: "On its way", ask: NOW },
  add_media: { name: "Add a picture", done: "" },
  delete: { name: "Delete the post", done: "Deleted", danger: "The post is gone everywhere that it is not out yet. This cannot be taken back." },
};

interface Matter {
  /** The one thing to do: the word on the button. */
  act: string;
  /** What is wrong, where the server's own words are too short for people. */
  says?: string;
}

/** Every reason that the server knows, with its own word: a new one does not compile before it has one. */
export const reasons: Record<Reason, Matter> = {
  refused: { act: "Change the post" },
  gave_up: { act: "Try again" },
  unconfirmed: { act: "It was published" },
  missed: { act: "Give it the next slot" },
  paused: { act: "Resume the queue" },
  came_due: { act: "Choose what happens…" },
  workspace_stopped: { act: "Let the workspace go on" },
  held_by_account: { act: "Connect the account again" },
  held_by_suspension: { act: "Look at the account" },
  network_waits: { act: "Take it back to the drafts" },
  not_approved: { act: "Approve" },
  connection_ends: { act: "Renew the connection" },
  connection_lost: { act: "Connect again" },
  suspended: { act: "Look at the account" },
  does_not_fit: { act: "Change the post" },
  needs_copy: { act: "Write the text", says: "Its text is not written yet." },
  needs_media: { act: "Add a picture", says: "It has no picture yet." },
  needs_copy_and_media: { act: "Write it and add a picture", says: "It has neither its text nor a picture yet." },
};

/** What is wrong with a thing, as a sentence. */
export function sentence(thing: Pick<Thing, "reason" | "says">): string {
  return reasons[thing.reason].says ?? thing.says.charAt(0).toUpperCase() + thing.says.slice(1);
}

/** The word on a step's button: of the reason for the first step, else the step's own. */
export function wordOf(thing: Pick<Thing, "reason" | "steps">, step: Step): string {
  return thing.steps[0] === step ? reasons[thing.reason].act : steps[step].name;
}

export const kinds: Record<Thing["kind"], { name: string; says: string }> = {
  account: { name: "Accounts", says: "They cannot send, or soon cannot." },
  needs_check: { name: "In doubt", says: "We do not know whether these arrived. Look at the account and say so." },
  held: { name: "Held", says: "They are due, and something keeps them." },
  unapproved: { name: "Waiting for approval", says: "They go out when somebody has approved them." },
  blocked: { name: "Needs changes", says: "These posts can't be sent as they are." },
  failed: { name: "Failed", says: "The network refused them, or we gave up." },
  missed: { name: "Missed", says: "Their time passed before they could go." },
};

/** Where a step is done that the list cannot do; null: right here. */
export function elsewhere(thing: Thing, step: Step, workspaceId: string): string | null {
  if (step === "edit" || step === "write" || step === "add_media") return `/w/${workspaceId}/compose/${thing.post_id ?? thing.subject_id}`;
  if (step === "reconnect" || step === "lift_suspension") return `/w/${workspaceId}/accounts?account=${thing.pill?.account_id ?? thing.subject_id}`;
  return null;
}

/** Which try of each delivery was looked at: a decision is about that one. */
export function fencesOf(things: readonly Pick<Thing, "subject_id" | "fence">[]): Record<string, number> {
  return Object.fromEntries(things.flatMap(({ subject_id, fence }) => (fence === null ? [] : [[subject_id, fence]])));
}

/** Things that look the same folded into one line, in their order: placeholders that lack the same, with the same words. */
export function folded(things: readonly Thing[]): Thing[][] {
  const lines = new Map<string, Thing[]>();
  for (const thing of things) {
    const isPlaceholder = thing.kind === "blocked" && thing.pill === null;
    const line = isPlaceholder ? JSON.stringify([thing.reason, thing.words ?? "", sentence(thing)]) : thing.subject_id;
    lines.set(line, [...(lines.get(line) ?? []), thing]);
  }
  return [...lines.values()];
}

/** What many things have in common: the first step that each of them has and that is done right here. */
export function commonStep(things: readonly Thing[]): Step | null {
  const [first, ...others] = things;
  if (first === undefined) return null;
  const isAlike = (step: Step) =>
    elsewhere(first, step, "") === null &&
    steps[step].danger === undefined &&
    others.every((each) => each.steps.includes(step) && (step !== "resume" || each.pill?.account_id === first.pill?.account_id)); // one dialog, one queue
  return first.steps.find(isAlike) ?? null;
}
