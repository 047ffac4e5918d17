// What the queue screen reads, and what a person may do to a queue. Single moves are in useOrder.ts: they are shown at
// once; every act here waits for its answer.
import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { useNamed } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { momentThere } from "../../ui/times";
import { orderBefore } from "./order";
import { undoSkip } from "./undoSkip";
import { t } from "../../messages/queue";

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
  const back = useAct("queue", ({ ids, revision }: { ids: string[]; revision: number }) => ask({ verb: "order", ids, revision }), { done: () => say(t("theOldOrderIsBack")) });
  return useAct("queue", (body: Mix) => ask(body), {
    done: ({ moved, stays }, { verb }) => {
      if (moved.length === 0) return say(stays.length === 0 ? t("nothingNeededToMove") : t("theyStayWhereTheyAreList", { list: stays.map(({ why }) => why).join(", ") }));
      return say(verb === "swap" ? t("swapped") : t("postsHaveANewTime", { moved: moved.length }));
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
    { done: () => say(t("slotRestored")) },
  );
  const takeSkipBack = useAct(
    "queue",
    ({ instants, skipped }: { instants: string[]; skipped: Schemas["SkippedView"] }) => undoSkip(path, instants, skipped),
    { done: (message) => say(message) },
  );
  const skip = useAct(
    "queue",
    (instants: string[]) => take(api.POST(`${QUEUE}/skips`, { params: { path }, body: { instants } })),
    {
      done: ({ moved }, [at]) =>
        say(t("slotSkipped", { slot: at === undefined ? t("theSlot") : momentThere(at, zone), moved: moved.length })),
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
            ? t("clearUndone", { restored: restored.length })
            : t("clearPartlyUndone", { restored: restored.length, lost: lost.length }),
        ),
    },
  );
  const clear = useAct(
    "queue",
    (byHand: boolean) => take(api.POST(`${QUEUE}/clear`, { params: { path }, body: { by_hand: byHand } })),
    {
      done: ({ canceled, on_their_way: going }) =>
        say(t("takenOff", { canceled: canceled.length, going: going.length })),
      undo: ({ clear_id: id }) => (id === null ? undefined : () => undoClear.mutate(id)),
    },
  );
  const pause = useAct(
    "queue",
    (body: Schemas["PauseInput"]) => take(api.POST(`${QUEUE}/pause`, { params: { path }, body })),
    {
      done: ({ under_way: going }) =>
        say(going === 0 ? t("pausedNothingIsSentUntilYou") : t("pausedPostsWereAlreadyBeingSent", { going })),
    },
  );
  const resume = useAct(
    "queue",
    (body: Schemas["ResumeInput"]) => take(api.POST(`${QUEUE}/resume`, { params: { path }, body })),
    { done: () => say(t("resumed")) },
  );
  const rescue = useAct(
    "queue",
    (body: Schemas["RescueInput"]) => take(api.POST(`${QUEUE}/missed`, { params: { path }, body })),
    {
      done: ({ moved, drafts, full, unfit }) => {
        const parts = [
          moved.length > 0 && t("postsRescheduled", { moved: moved.length }),
          drafts.length > 0 && t("draftsMovedToDrafts", { drafts: drafts.length }),
          full.length > 0 && t("noFreeSlotForFull", { full: full.length }),
          unfit.length > 0 && t("unfitCantBeSentAsWritten", { unfit: unfit.length }),
        ].filter(Boolean);
        return say(`${parts.join("; ") || t("noMissedPostsLeft")}.`);
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
    (ids: string[]) => each(ids, (delivery) => take(api.POST(`${DELIVERY}/cancel`, { params: { path: delivery }, body: { reason: t("removedReason") } }))),
    { done: () => say(t("removedFromTheQueue")) },
  );
  const publish = useAct("queue", (ids: string[]) => each(ids, (delivery) => take(api.POST(`${DELIVERY}/publish-now`, { params: { path: delivery } }))), {
    done: (answers) => say([t("publishingNow"), answers.find(({ warning }) => warning)?.warning].filter(Boolean).join(" ")),
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
