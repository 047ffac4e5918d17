// Moves in the order of a queue: seen at once, sent one after the other, each with a way back. What is on its way is
// laid over what the server says at every drawing, so that an answer or an event in between takes nothing back; a
// refused move is gone by itself. Limit: moves that were made on a queue that somebody else changed are all refused.
import { useMutation, useMutationState, useQueryClient, type Mutation } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { useNamed } from "../../api/accounts";
import { api, take } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { readAnew } from "../../api/touches";
import { tellDone, tellProblem } from "../../ui/tell";
import { momentThere } from "../../ui/times";
import { movable, moveTo, nameOf, wayBack, withMove, withServersOrder, type Move, type QueueView } from "./order";
import { t } from "../../messages/queue";

const ORDER = "/api/v1/workspaces/{workspace_id}/accounts/{account_id}/queue/order";

interface Moving {
  move: Move;
  back: Move | null;
  undone?: boolean;
}

const moveOf = ({ state }: Mutation) => (state.variables as Moving).move;

export interface Conflict {
  moves: Move[];
  message: string;
}

export function useOrder(accountId: string, days: number, told: QueueView | undefined) {
  const queries = useQueryClient();
  const named = useNamed();
  const path = { workspace_id: useWorkspaceId(), account_id: accountId };
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const seen = useRef(0); // the revision that the next move was made on
  const mutationKey = [path.workspace_id, "move", accountId];
  const pending = { mutationKey, status: "pending" as const };
  const under = useMutationState({ filters: pending, select: moveOf });
  const view = told && under.reduce(withMove, told);
  const views = { queryKey: [path.workspace_id, "queue", accountId] };
  const tell = (change: (old: QueueView) => QueueView) => {
    void queries.cancelQueries(views); // asked before the answer: it would be older
    queries.setQueriesData<QueueView>(views, (old) => old && change(old));
  };
  const latest = () => Math.max(0, ...queries.getQueriesData<QueueView>(views).map(([, each]) => each?.revision ?? 0));

  const moving = useMutation({
    mutationKey,
    scope: { id: mutationKey.join(" ") }, // one after the other
    mutationFn: ({ move }: Moving) => take(api.POST(ORDER, { params: { path }, body: { verb: "move", revision: seen.current, ...move } })),
    onSuccess: ({ moved, stays, revision }, { move, back, undone }) => {
      seen.current = revision;
      tell((now) => (now.revision < revision ? { ...(stays.length > 0 ? now : withMove(now, move)), revision } : now));
      const own = moved.find(({ id }) => id === move.id);
      if (stays.length > 0) tellProblem(new Error(t("itStaysWhereItIsList", { list: stays.map(({ why }) => why).join(", ") })));
      else if (undone === true) tellDone(named(accountId, t("movedBack")));
      else if (own !== undefined && told !== undefined)
        tellDone(named(accountId, t("nowGoesOutTime", { time: momentThere(own.now_at, told.zone) })), back === null ? undefined : () => begin({ move: back, back: null, undone: true }));
    },
    onError: (error, { move }) => {
      if (!(error instanceof Problem && error.code === "queue_changed")) return tellProblem(error);
      const body = error.body as { revision: number; order: { id: string; at: string }[] };
      tell((now) => withServersOrder(now, body.revision, body.order));
      setConflict((before) => ({ moves: [...(before?.moves ?? []), move], message: error.message }));
    },
    onSettled: () => {
      // The last one on its way reads again; before that an answer could only be too old.
      if (queries.isMutating({ mutationKey }) === 1) void readAnew(queries, path.workspace_id, ["queue"]);
    },
  });

  const begin = (asked: Moving) => {
    setConflict(null);
    if (queries.isMutating({ mutationKey }) === 0) seen.current = latest();
    moving.mutate(asked);
  };
  /** What will be on the screen at the next drawing: keys may be quicker than it. */
  const present = () => {
    const known = queries.getQueryData<QueueView>([...views.queryKey, days]) ?? told;
    return known && queries.getMutationCache().findAll(pending).map(moveOf).reduce(withMove, known);
  };
  const step = (id: string, by: -1 | 1) => {
    const now = present();
    const wanted = now && moveTo(now, id, movable(now).map(nameOf).indexOf(id) + by);
    if (now !== undefined && wanted !== undefined && wanted !== null) begin({ move: wanted, back: wayBack(now, id) });
  };
  const move = (wanted: Move | null) => {
    if (wanted !== null && view !== undefined) begin({ move: wanted, back: wayBack(view, wanted.id) });
  };
  const toTop = (id: string) => {
    const first = view && movable(view)[0];
    if (first !== undefined && nameOf(first) !== id) move({ id, before: nameOf(first) });
  };
  return {
    view,
    move,
    step,
    toTop,
    conflict,
    again: () => conflict?.moves.forEach(move),
    leave: () => setConflict(null),
    busy: under.length > 0,
  };
}
