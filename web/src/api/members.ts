import { useQuery } from "@tanstack/react-query";

import { api, take } from "./client";
import { useWorkspaceId } from "./me";

/** The people of the workspace. */
export function useMembers() {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "members"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/members", { params: { path: { workspace_id } } })),
  });
}
