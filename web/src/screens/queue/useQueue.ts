// What the queue screen reads, and what a person may do to a queue. Single moves are in useOrder.ts: they are shown at
// once; every act here waits for its answer.
import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { useNamed } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { momentThere } from "../../ui/times";
import { count } from "../../ui/words";
import { orderBefore } from "./order";
import { undoSkip } from "./undoSkip";

const DELIVERY = "/api/v1/workspaces/{workspace_id}/deliveries/{delivery_id}";
const QUEUE = "/api/v1/workspaces/{workspace_id}/accounts/{account_id}/queue";

function usePath(accountId: string) {
  return { workspace_id: useWorkspaceId(), account_id: accountId };
}

function useSay(accountId: string) {
  const named = useNamed();
  return (words: string) => named(accountId, words);
}

export function useQueueView(accountId: string, days: number) {
  const path = usePath(accountId);
  return useQuery({
    queryKey: [path.workspace_id, "queue", accountId, days],
    queryFn: () => take(api.GET(QUEUE, { params: { path, query: { days } } })),
    placeholderData: (old, before) => (before?.queryKey[2] === accountId ? keepPreviousData(old) : undefined),
    retry: (failures, error) => failures < 1 && !(error instanceof Problem && error.status === 404),
  });
}

export function useRunway(accountId: string) {
  const path = usePath(accountId);
  return useQuery({
    queryKey: [path.workspace_id, "runway", accountId],
    queryFn: () => take(api.GET(`${QUEUE}/runway`, { params: { path } })),
    retry: false,
  });
}

export function useMissed(accountId: string) {
  const { workspace_id } = usePath(accountId);
  return useQuery({
    queryKey: [workspace_id, "missed", accountId],
    queryFn: () =>
      take(
        api.GET("/api/v1/workspaces/{workspace_id}/deliveries", {
          params: { path: { workspace_id }, query: { state: ["missed"], account_id: accountId, limit: 50 } },
        }),
      ),
  });
}

export type Mix = Extract<Schemas["OrderInput"], { verb: "shuffle" | "reverse" | "swap" }>;

/** The whole order at once: mixed, turned round, or two changed about; with a way back to the order before. */
export function useMix(accountId: string) {
  const path = usePath(accountId);
  const say = useSay(accountId);
  const ask = (body: Schemas["OrderInput"]) => take(api.POST(`${QUEUE}/order`, { params: { path }, body }));
  const back = useAct("queue", ({ ids, revision }: { ids: string[]; revision: number }) => ask({ verb: "order", ids, revision }), { done: () => say("The order is as it was.") });
  return useAct("queue", (body: Mix) => ask(body), {
    done: ({ moved, stays }, { verb }) => {
      if (moved.length === 0) return say(stays.length === 0 ? "Nothing had to move." : `They stay where they are: ${stays.map(({ why }) => why).join(", ")}.`);
      return say(verb === "swap" ? "The two changed places." : `${count(moved.length, "post")} got another time.`);
    },
    undo: ({ moved, revision }) => (moved.length === 0 ? undefined : () => back.mutate({ ids: orderBefore(moved), revision })),
  });
}

/** Everything else that is done to a queue. */
export function useQueueActs(accountId: string, zone: string) {
  const path = usePath(accountId);
  const say = useSay(accountId);
  const lift = useAct(
    "queue",
    (instants: string[] | null) => take(api.POST(`${QUEUE}/skips/lift`, { params: { path }, body: { instants } })),
    { done: () => say("The slot is offered again.") },
  );
  const takeSkipBack = useAct(
    "queue",
    ({ instants, skipped }: { instants: string[]; skipped: Schemas["SkippedView"] }) => undoSkip(path, instants, skipped),
    { done: (says) => say(says) },
  );
  const skip = useAct(
    "queue",
    (instants: string[]) => take(api.POST(`${QUEUE}/skips`, { params: { path }, body: { instants } })),
    {
      done: ({ moved }, [at]) =>
        say(`${at === undefined ? "The slot" : momentThere(at, zone)} is skipped${moved.length > 0 ? `; ${count(moved.length, "post")} moved on` : ""}.`),
      undo: (skipped, instants) => () => takeSkipBack.mutate({ instants, skipped }),
    },
  );
  const undoClear = useAct(
    "queue",
    (clearId: string) =>
      take(
        api.POST("/api/v1/workspaces/{workspace_id}/queue/clears/{clear_id}/undo", {
          params: { path: { workspace_id: path.workspace_id, clear_id: clearId } },
        }),
      ),
    {
      done: ({ restored, lost }) =>
        say(
          lost.length === 0
            ? `${count(restored.length, "post")} back in the queue.`
            : `${count(restored.length, "post")} back; ${lost.length} found their slot taken.`,
        ),
    },
  );
  const clear = useAct(
    "queue",
    (byHand: boolean) => take(api.POST(`${QUEUE}/clear`, { params: { path }, body: { by_hand: byHand } })),
    {
      done: ({ canceled, on_their_way: going }) =>
        say(`${count(canceled.length, "post")} taken off the queue${going.length > 0 ? `; ${going.length} were on their way` : ""}.`),
      undo: ({ clear_id: id }) => (id === null ? undefined : () => undoClear.mutate(id)),
    },
  );
  const pause = useAct(
    "queue",
    (body: Schemas["PauseInput"]) => take(api.POST(`${QUEUE}/pause`, { params: { path }, body })),
    {
      done: ({ under_way: going }) =>
        say(going === 0 ? "Paused: nothing is sent until you resume." : `Paused; ${count(going, "post")} already on the way.`),
    },
  );
  const resume = useAct(
    "queue",
    (body: Schemas["ResumeInput"]) => take(api.POST(`${QUEUE}/resume`, { params: { path }, body })),
    { done: () => say("It sends again.") },
  );
  const rescue = useAct(
    "queue",
    (body: Schemas["RescueInput"]) => take(api.POST(`${QUEUE}/missed`, { params: { path }, body })),
    {
      done: ({ moved, drafts, full, unfit }) => {
        const parts = [
          moved.length > 0 && `${count(moved.length, "post")} got a new time`,
          drafts.length > 0 && `${drafts.length} back among the drafts`,
          full.length > 0 && `${full.length} found no free slot`,
          unfit.length > 0 && `${unfit.length} can't be sent as written: change them first`,
        ].filter(Boolean);
        return say(`${parts.join("; ") || "Nothing was missed any more"}.`);
      },
    },
  );
  const each = async <Answer>(ids: string[], ask: (delivery: { workspace_id: string; delivery_id: string }) => Promise<Answer>) => {
    const answers: Answer[] = [];
    for (const delivery_id of ids) answers.push(await ask({ workspace_id: path.workspace_id, delivery_id }));
    return answers;
  };
  const cancel = useAct(
    "queue",
    (ids: string[]) => each(ids, (delivery) => take(api.POST(`${DELIVERY}/cancel`, { params: { path: delivery }, body: { reason: "taken off the queue" } }))),
    { done: () => say("Taken off the queue.") },
  );
  const publish = useAct("queue", (ids: string[]) => each(ids, (delivery) => take(api.POST(`${DELIVERY}/publish-now`, { params: { path: delivery } }))), {
    done: (answers) => say(["It goes out now.", answers.find(({ warning }) => warning)?.warning].filter(Boolean).join(" ")),
  });
  return { skip, lift, clear, pause, resume, rescue, cancel, publish };
}

/** What a resume would do, without doing it. */
export function useResumePreview(accountId: string, choice: Schemas["ResumeInput"]["choice"], minutes: number, asked: boolean) {
  const path = usePath(accountId);
  return useQuery({
    queryKey: [path.workspace_id, "resume-preview", accountId, choice, minutes],
    enabled: asked,
    retry: false,
    queryFn: () =>
      take(
        api.POST(`${QUEUE}/resume`, {
          params: { path, query: { dry_run: true } },
          body: { choice, minutes_apart: minutes },
        }),
      ),
  });
}
