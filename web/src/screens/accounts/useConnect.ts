// Connecting: what a network asks for, the way there, and the way back.
import { useQuery } from "@tanstack/react-query";

import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";

const CONNECT = "/api/v1/workspaces/{workspace_id}/connect";

export type Network = Schemas["Network"];
export type Connection = Required<Schemas["Connection"]>;
export type Question = Schemas["Question"];

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
  window.location.assign(answer.redirect);
  return null;
}

/** The workspace that a state names: what came back may have been begun elsewhere, such as on the command line. */
export const workspaceOf = (state: string | null): string | null => /^([\w-]+)\./.exec(state ?? "")?.[1] ?? null;

/** Hand on what the network sent back, or the answer to what it asked for. */
export async function complete(workspaceId: string, state: string, code: string, iss: string | null = null): Promise<Connection> {
  const answer = await take(api.POST(`${CONNECT}/complete`, { params: { path: { workspace_id: workspaceId } }, body: { state, code, iss } }));
  return answer as Connection;
}
