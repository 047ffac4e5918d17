// Named sets of recipients, for whoever lets one choose among them.
import { useQuery } from "@tanstack/react-query";

import { api, take, type Schemas } from "./client";
import { useWorkspaceId } from "./me";

export type Audience = Schemas["AudienceView"];

export function useAudiences() {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "audiences"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/audiences", { params: { path: { workspace_id } } })),
  });
}
