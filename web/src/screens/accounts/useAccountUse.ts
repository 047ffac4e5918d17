import { useQuery } from "@tanstack/react-query";

import { api, take } from "../../api/client";
import { useWorkspaceId } from "../../api/me";

/** What an account did in the last four weeks, and what is used of its limits. */
export function useAccountUse(accountId: string) {
  const workspaceId = useWorkspaceId();
  return useQuery({
    queryKey: [workspaceId, "use", accountId],
    queryFn: () =>
      take(
        api.GET("/api/v1/workspaces/{workspace_id}/accounts/{account_id}/use", {
          params: { path: { workspace_id: workspaceId, account_id: accountId } },
        }),
      ),
  });
}
