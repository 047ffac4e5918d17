// Connecting: what a network asks for, the way there, and the way back.
import { useQuery } from "@tanstack/react-query";

import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";

const CONNECT = "/api/v1/workspaces/{workspace_id}/connect";
const KEPT = "cadenza.connecting";

export type Network = Schemas["Network"];
export type Connection = Required<Schemas["Connection"]>;

export function useNetworks() {
  const workspaceId = useWorkspaceId();
  return useQuery({
    queryKey: ["networks", workspaceId],
    queryFn: () => take(api.GET(CONNECT, { params: { path: { workspace_id: workspaceId } } })),
    staleTime: 600_000,
  });
}

/** Begin; where the network wants to ask the person itself, leave this page for its own. */
export async function begin(workspaceId: string, provider: string, fields: Record<string, string>, accountId: string | null): Promise<Connection | null> {
  const answer = (await take(
    api.POST(`${CONNECT}/{provider}`, {
      params: { path: { workspace_id: workspaceId, provider } },
      body: { fields, account_id: accountId },
    }),
  )) as Connection;
  if (answer.redirect === null) return answer;
  sessionStorage.setItem(KEPT, workspaceId); // the network's answer does not name the workspace
  window.location.assign(answer.redirect);
  return null;
}

export const begunIn = (): string | null => sessionStorage.getItem(KEPT);

export async function complete(workspaceId: string, state: string, code: string, iss: string | null): Promise<Connection> {
  sessionStorage.removeItem(KEPT);
  const answer = await take(api.POST(`${CONNECT}/complete`, { params: { path: { workspace_id: workspaceId } }, body: { state, code, iss } }));
  return answer as Connection;
}
