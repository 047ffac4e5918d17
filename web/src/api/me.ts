// Who is signed in, and in which workspace we are.
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "react-router";

import { roles, type Role } from "../ui/roles";
import { api, take, type Schemas } from "./client";

export type Me = Schemas["Me"];
export type Membership = Schemas["Membership"];

export const meQuery = {
  queryKey: ["me"],
  queryFn: () => take(api.GET("/api/v1/me")),
  staleTime: 60_000,
  retry: false,
} as const;

export function useMe(): Me {
  return useSuspenseQuery(meQuery).data;
}

/** The day on which one's week begins; Sunday is 0. */
export function useWeekStart() {
  return useMe().week_start as 0 | 1 | 2 | 3 | 4 | 5 | 6;
}

export function useWorkspaceId(): string {
  const { workspaceId } = useParams();
  if (workspaceId === undefined) throw new Error("this screen belongs to a workspace");
  return workspaceId;
}

/** Say whether one's role in this workspace covers another: screens hide what the server would refuse. */
export function useMay(role: Role): boolean {
  const me = useMe();
  const workspaceId = useWorkspaceId();
  const own = me.workspaces.find((each) => each.workspace_id === workspaceId)?.role ?? "viewer";
  return roles.indexOf(own as Role) >= roles.indexOf(role);
}

export function useWorkspace() {
  const workspaceId = useWorkspaceId();
  return useQuery({
    queryKey: [workspaceId, "workspace"],
    queryFn: () =>
      take(api.GET("/api/v1/workspaces/{workspace_id}", { params: { path: { workspace_id: workspaceId } } })),
  });
}
