import { useQuery } from "@tanstack/react-query";

import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";

export type Category = Schemas["CategoryView"];

export function useCategories() {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "categories"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/categories", { params: { path: { workspace_id } } })),
  });
}
