import { useQuery } from "@tanstack/react-query";

import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";

export type Thing = Schemas["AttentionItemView"];
export type Reason = Thing["reason"];
export type Step = Thing["steps"][number];

/** What wants a person in this workspace. */
export function useThings() {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "attention"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/attention", { params: { path: { workspace_id } } })),
    refetchInterval: 60_000, // time alone makes things late
  });
}

/** How many things want a person: the number beside the screen's name. */
export function useThingCount(): number | undefined {
  return useThings().data?.length;
}
