// What the button asks of the server: one act that saves the words and sends them on their way, or does neither.
import { api, take } from "../../api/client";
import { written, type Content, type Post } from "./content";
import { compose, type Act, type Went } from "./foresee";
import { placeTime } from "./labels";
import { t } from "../../messages/composer";

export type Way = "queue" | "slot" | "time" | "now" | "draft" | "save" | "again";

export interface Submission {
  way: Way;
  content: Content;
  reworded: boolean;
  saved: { post: Post; revision: number } | null;
  /** The slot that was chosen: an instant. */
  at: string | null;
  /** The wall time that was chosen, and whose clock it is on. */
  wall: string | null;
  zone: string;
}

const GOES: Record<Way, Act["goes"]> = { queue: "queue", slot: "queue", time: "time", now: "now", draft: "nowhere", save: "nowhere", again: "again" };

/** Ways that send it on its way; the others only keep the words. */
export const isSending = (way: Way): boolean => way !== "draft" && way !== "save";

export function actOf(submission: Submission): Act {
  const goes = GOES[submission.way];
  return {
    content: submission.saved === null || submission.reworded ? written(submission.content) : null,
    post_id: submission.saved?.post.id ?? null,
    revision: submission.saved?.revision ?? null,
    goes,
    to: "first_free",
    accounts: goes === "nowhere" || goes === "again" ? [] : submission.content.places,
    at: submission.way === "slot" ? submission.at : submission.way === "time" ? submission.wall : null,
    zone: submission.way === "time" ? submission.zone : null,
  };
}

export interface Done {
  post: Post;
  message: string;
}

export async function carryOut(workspaceId: string, submission: Submission): Promise<Done> {
  const { composed } = await compose(workspaceId, actOf(submission), false);
  const { post, places } = composed;
  if (places.length > 0) return { post, message: wentWords(places, post.pills) };
  const lost = post.voided ? t("savedTheTextChangedSoIt") : null;
  return { post, message: post.message ?? lost ?? (submission.way === "draft" ? t("savedAsDraft") : t("saved")) };
}

type Pill = Pick<Post["pills"][number], "account_id" | "handle" | "held">;

/** What it came to, in one sentence; what is held does not go out at its time. */
export function wentWords(places: readonly Went[], pills: readonly Pill[] = []): string {
  const holds = new Map(pills.flatMap((pill) => (pill.held === null ? [] : [[pill.account_id, pill] as const])));
  const handles = new Map(pills.map(({ account_id, handle }) => [account_id, handle]));
  const told = places.map((each) => ({ each, held: heldWords(holds.get(each.account_id)), handle: handles.get(each.account_id) }));
  const going = told.filter(({ each, held }) => each.outcome === "now" && held === null).length;
  const whose = told.flatMap(({ each, held, handle }) => (each.outcome === "now" && held === null && handle !== undefined ? [handle] : []));
  const now = going === 0 ? [] : [whose.length > 0 ? t("publishingToAccountsList", { going, list: [...new Set(whose)].join(", ") }) : t("publishingToAccounts", { going })];
  const rest = told.flatMap(({ each, held, handle }) => (each.outcome === "now" && held === null ? [] : [oneWords(each, held, handle)]));
  return [...new Set([...now, ...rest])].join(" ");
}

/** Until when nothing of an account goes, and who ends that; null: nothing holds it. */
function heldWords(pill: Pill | undefined): string | null {
  switch (pill?.held?.code) {
    case "paused":
      return t("handleIsPausedNothingIsSent", { handle: pill.handle });
    case "account":
      return t("handleCantSendUntilItsReconnected", { handle: pill.handle });
    case "stopped":
      return t("theWorkspaceIsPausedNothingIs");
    default:
      return null;
  }
}

function oneWords(went: Went, held: string | null, handle: string | undefined): string {
  if (went.outcome === "already") return handle === undefined ? t("itsAlreadyBeingSentThere") : t("handleIsAlreadySendingIt", { handle });
  if (went.outcome === "refused" || typeof went.at !== "string") return handle === undefined ? t("notSentSays", { message: went.message ?? t("noReasonGiven") }) : t("handleDidntSendItSays", { handle, message: went.message ?? t("noReasonGiven") });
  if (held !== null) return went.outcome === "now" ? t("notSentYetHeld", { held }) : t("plannedForTimeHeld", { time: placeTime(went.at, went.zone ?? "UTC"), held });
  const time = placeTime(went.at, went.zone ?? "UTC");
  return handle === undefined ? t("goesOutTime", { time }) : t("goesOutTimeFromHandle", { time, handle });
}

export function approve(workspaceId: string, postId: string, revision: number) {
  return take(
    api.POST("/api/v1/workspaces/{workspace_id}/posts/{post_id}/approve", {
      params: { path: { workspace_id: workspaceId, post_id: postId } },
      body: { revision },
    }),
  );
}
