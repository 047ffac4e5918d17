import { useQuery } from "@tanstack/react-query";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { t } from "../../messages/sequences";

export type Sequence = Schemas["SequenceView"];
export type Step = Schemas["SequenceStepInput"];
export type Plan = Schemas["SequencePlanView"];
export type Report = Schemas["SequenceReportView"];
export type Enrolled = Schemas["EnrolledView"];

export const SEQUENCES = "/api/v1/workspaces/{workspace_id}/sequences";
export const SEQUENCE = "/api/v1/workspaces/{workspace_id}/sequences/{sequence_id}";

export function useSequences() {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "sequences"],
    queryFn: () => take(api.GET(SEQUENCES, { params: { path: { workspace_id } } })),
  });
}

export function useSequence(sequence_id: string) {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "sequence", sequence_id],
    queryFn: () => take(api.GET(SEQUENCE, { params: { path: { workspace_id, sequence_id } } })),
  });
}

export function useReport(sequence_id: string) {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "sequence-report", sequence_id],
    queryFn: () => take(api.GET(`${SEQUENCE}/report`, { params: { path: { workspace_id, sequence_id } } })),
    refetchInterval: 30_000, // messages leave one by one, minutes apart
  });
}

/** What the planner would do now, by its own code. */
export function usePlan(sequence_id: string, enabled: boolean) {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "sequence-plan", sequence_id],
    queryFn: () => take(api.GET(`${SEQUENCE}/plan`, { params: { path: { workspace_id, sequence_id } } })),
    enabled,
    retry: false,
  });
}

export function useSequenceActs({ id: sequence_id, name }: Pick<Sequence, "id" | "name">) {
  const params = { path: { workspace_id: useWorkspaceId(), sequence_id } };
  return {
    start: useAct("sequence", () => take(api.POST(`${SEQUENCE}/start`, { params })), { done: () => t("nameIsRunning", { name }) }),
    pause: useAct("sequence", (reason: string) => take(api.POST(`${SEQUENCE}/pause`, { params, body: { reason } })), { done: () => t("nameIsPaused", { name }) }),
    resume: useAct("sequence", () => take(api.POST(`${SEQUENCE}/resume`, { params })), { done: () => t("nameIsRunning", { name }) }),
    end: useAct("sequence", () => take(api.POST(`${SEQUENCE}/end`, { params })), { done: () => t("nameIsEnded", { name }) }),
    remove: useAct("sequence", () => take(api.DELETE(SEQUENCE, { params })), { done: () => t("nameIsDeleted", { name }) }),
    add: useAct(
      "sequence",
      async (whom: { audience_id?: string; contact_ids?: string[] }) => {
        const all = { added: 0, there: 0, unreachable: 0 };
        for (let after: string | null = ""; after !== null; ) {
          const answer: Schemas["SequencePeopleView"] = await take(api.POST(`${SEQUENCE}/contacts`, { params, body: { contact_ids: [], ...whom, after } }));
          all.added += answer.added;
          all.there += answer.there_already.length;
          all.unreachable += answer.unreachable.length;
          after = answer.next;
        }
        return all;
      },
      { done: (answer) => t("peopleWereAdded", answer) },
    ),
  };
}
