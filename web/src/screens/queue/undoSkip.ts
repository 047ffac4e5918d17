// Takes a skip back: the slot is offered again, and every post that made room for it gets its time back. The server
// lifts a skip without moving anything, so the last of those posts is put on the freed slot and the order dealt out again.
// Limit: only if nobody changed the queue since; else the posts stay, and that is said.
import { api, take, type Schemas } from "../../api/client";
import { count } from "../../ui/words";
import { orderBefore } from "./order";

const QUEUE = "/api/v1/workspaces/{workspace_id}/accounts/{account_id}/queue";

type Skipped = Pick<Schemas["SkippedView"], "moved" | "revision">;

/** Return what came of it, in words. */
export async function undoSkip(path: { workspace_id: string; account_id: string }, instants: string[], { moved, revision }: Skipped): Promise<string> {
  const lifted = await take(api.POST(`${QUEUE}/skips/lift`, { params: { path }, body: { instants } }));
  const offered = "The slot is offered again";
  if (moved.length === 0) return `${offered}.`;
  if (lifted.revision !== revision + 1) return `${offered}; the posts stay where they are now, because the queue was changed meanwhile.`;
  try {
    const posts = await moveBack(path, moved);
    return `${offered}, and ${count(posts, "post")} ${posts === 1 ? "has its time" : "have their times"} back.`;
  } catch (error) {
    return `${offered}, but the posts stay where they are now: ${error instanceof Error ? error.message : "no reason was given"}`;
  }
}

async function moveBack(path: { workspace_id: string; account_id: string }, moved: Skipped["moved"]): Promise<number> {
  // What goes out together, on several channels, moved together: one of it stands for all.
  const leaders = moved.filter(({ was_at }, at) => moved.findIndex((other) => other.was_at === was_at) === at);
  const ids = orderBefore(leaders);
  const [first, last] = [leaders.find(({ id }) => id === ids[0]), leaders.find(({ id }) => id === ids.at(-1))];
  if (first === undefined || last === undefined || last.post_id === null) throw new Error("one of them is no post of its own.");
  const taken = await take(api.POST(`${QUEUE}/slots`, { params: { path }, body: { post_id: last.post_id, at: first.was_at } }));
  if (ids.length > 1) await take(api.POST(`${QUEUE}/order`, { params: { path }, body: { verb: "order", ids, revision: taken.revision } }));
  return ids.length;
}
