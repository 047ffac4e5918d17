// The templates of a workspace, for whoever lets one choose among them. Limit: the newest 200.
import { useQuery } from "@tanstack/react-query";

import { api, take, type Schemas } from "./client";
import { useWorkspaceId } from "./me";

export type Template = Schemas["TemplateView"];

export function useTemplates() {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "templates"],
    queryFn: async () => (await take(api.GET("/api/v1/workspaces/{workspace_id}/templates", { params: { path: { workspace_id }, query: { limit: 200 } } }))).items,
  });
}
