// The words of reasons, steps and kinds, and which steps lead to another screen.
import type { Reason, Step, Thing } from "./useThings";
import { t } from "../../messages/attention";

interface Said {
  name: string;
  done: string;
  /** Asked before it is done: it cannot be taken back. */
  ask?: string;
  /** Asked too, and only for one thing at a time: it may do harm. */
  danger?: string;
}

const NOW = t("itsPublishedRightAwayYouCant");

export const steps: Record<Step, Said> = {
  retry: { name: t("tryAgain"), done: t("tryingAgain") },
  edit: { name: t("editPost"), done: "" },
  write: { name: t("writeTheText"), done: "" },
  it_is_there: { name: t("itWasPublished"), done: t("markedAsPublished") },
  send_again: { name: t("notPublishedSendAgain"), done: t("sentAgain"), danger: t("checkTheAccountFirstIfIt") },
  next_slot: { name: t("moveToNextFreeSlot"), done: t("rescheduled") },
  publish_now: { name: t("publishNow"), done: t("publishing"), ask: NOW },
  to_draft: { name: t("moveToDrafts"), done: t("movedToDrafts") },
  resume: { name: t("resumeQueue"), done: t("queueResumed") },
  start_workspace: { name: t("resumeWorkspace"), done: t("workspaceResumed") },
  reconnect: { name: t("reconnect"), done: "" },
  lift_suspension: { name: t("viewAccount"), done: "" },
  approve: { name: t("approve"), done: t("approved") },
  approve_and_publish_now: { name: t("approveAndPublishNow"), done: t("publishing"), ask: NOW },
  add_media: { name: t("addAnImage"), done: "" },
  delete: { name: t("deletePost"), done: t("deleted"), danger: t("thePostIsDeletedAndWont") },
};

interface Matter {
  /** The one thing to do: the word on the button. */
  act: string;
  /** What is wrong, where the server's own words are too short for people. */
  message?: string;
}

/** Every reason that the server knows, with its own word: a new one does not compile before it has one. */
export const reasons: Record<Reason, Matter> = {
  refused: { act: t("editThePost") },
  gave_up: { act: t("tryAgain") },
  unconfirmed: { act: t("itWasPublished") },
  missed: { act: t("moveToNextFreeSlot") },
  paused: { act: t("resumeQueue") },
  came_due: { act: t("decideDots") },
  workspace_stopped: { act: t("resumeWorkspace") },
  held_by_account: { act: t("reconnectTheAccount") },
  held_by_suspension: { act: t("viewAccount") },
  network_waits: { act: t("moveItToDrafts") },
  not_approved: { act: t("approve") },
  connection_ends: { act: t("renewAccess") },
  connection_lost: { act: t("reconnect") },
  suspended: { act: t("viewAccount") },
  does_not_fit: { act: t("editThePost") },
  needs_copy: { act: t("writeTheText"), message: t("itHasNoTextYet") },
  needs_media: { act: t("addAnImage"), message: t("itHasNoImageYet") },
  needs_copy_and_media: { act: t("writeTheTextAndAddAn"), message: t("itHasNoTextAndNo") },
};

/** What is wrong with a thing, as a sentence. */
export function sentence(thing: Pick<Thing, "reason" | "message">): string {
  return reasons[thing.reason].message ?? thing.message.charAt(0).toUpperCase() + thing.message.slice(1);
}

/** The word on a step's button: of the reason for the first step, else the step's own. */
export function wordOf(thing: Pick<Thing, "reason" | "steps">, step: Step): string {
  return thing.steps[0] === step ? reasons[thing.reason].act : steps[step].name;
}

export const kinds: Record<Thing["kind"], { name: string; message: string }> = {
  account: { name: t("accounts"), message: t("theseCantSendOrSoonWont") },
  needs_check: { name: t("unconfirmed"), message: t("theNetworkDidntConfirmTheseCheck") },
  held: { name: t("onHold"), message: t("theseAreDueButSomethingIs") },
  unapproved: { name: t("waitingForApproval"), message: t("theseGoOutOnceSomeoneApproves") },
  blocked: { name: t("needsChanges"), message: t("thesePostsCantBeSentAs") },
  failed: { name: t("failed"), message: t("theNetworkRejectedTheseOrWe") },
  missed: { name: t("missed"), message: t("theirTimePassedBeforeTheyCould") },
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
