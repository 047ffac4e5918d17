// Takes a skip back: the slot is offered again, and every post that made room for it gets its time back. The server
// lifts a skip without moving anything, so the last of those posts is put on the freed slot and the order dealt out again.
// Limit: only if nobody changed the queue since; else the posts stay, and that is said.
import { api, take, type Schemas } from "../../api/client";
import { orderBefore } from "./order";
import { t } from "../../messages/queue";

const QUEUE = "/api/v1/workspaces/{workspace_id}/accounts/{account_id}/queue";

type Skipped = Pick<Schemas["SkippedView"], "moved" | "revision">;

/** Return what came of it, in words. */
export async function undoSkip(path: { workspace_id: string; account_id: string }, instants: string[], { moved, revision }: Skipped): Promise<string> {
  const lifted = await take(api.POST(`${QUEUE}/skips/lift`, { params: { path }, body: { instants } }));
  if (moved.length === 0) return t("slotRestored");
  if (lifted.revision !== revision + 1) return t("slotRestoredThePostsStayWhere");
  try {
    const posts = await moveBack(path, moved);
    return t("slotRestoredWithPosts", { posts });
  } catch (error) {
    const reason = error instanceof Error ? error.message : t("noReasonGiven");
    return t("slotRestoredButThePostsStay", { reason });
  }
}

async function moveBack(path: { workspace_id: string; account_id: string }, moved: Skipped["moved"]): Promise<number> {
  // What goes out together, on several channels, moved together: one of it stands for all.
  const leaders = moved.filter(({ was_at }, at) => moved.findIndex((other) => other.was_at === was_at) === at);
  const ids = orderBefore(leaders);
  const [first, last] = [leaders.find(({ id }) => id === ids[0]), leaders.find(({ id }) => id === ids.at(-1))];
  if (first === undefined || last === undefined || last.post_id === null) throw new Error(t("oneOfThemCantBeMoved"));
  const taken = await take(api.POST(`${QUEUE}/slots`, { params: { path }, body: { post_id: last.post_id, at: first.was_at } }));
  if (ids.length > 1) await take(api.POST(`${QUEUE}/order`, { params: { path }, body: { verb: "order", ids, revision: taken.revision } }));
  return ids.length;
}
