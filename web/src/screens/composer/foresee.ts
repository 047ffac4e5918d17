// What would become of what is typed: previews and counts, troubles, approval and times. Nothing is written.
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";

import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { isEmpty, written, type Content, type Place } from "./content";

export type Preview = Schemas["PreviewShown"];
export type Finding = Schemas["FindingShown"];

export function usePreviews(content: Content) {
  const workspace_id = useWorkspaceId();
  const [typed] = useDebouncedValue(content, 350);
  return useQuery({
    queryKey: [workspace_id, "preview", typed],
    queryFn: () =>
      take(
        api.POST("/api/v1/workspaces/{workspace_id}/posts/preview", {
          params: { path: { workspace_id } },
          body: { ...written(typed), accounts: typed.places, channels: [] },
        }),
      ),
    enabled: typed.places.length > 0,
    placeholderData: keepPreviousData,
  });
}

/** Duplicates, expiring connections, files that do not fit: what the road would ask. */
export function useFindings(content: Content, postId: string | null, at: Date | null) {
  const workspace_id = useWorkspaceId();
  const [typed] = useDebouncedValue(content, 800);
  return useQuery({
    queryKey: [workspace_id, "check", typed, postId, at?.toISOString()],
    queryFn: () =>
      take(
        api.POST("/api/v1/workspaces/{workspace_id}/posts/check", {
          params: { path: { workspace_id } },
          body: { ...written(typed), accounts: typed.places, post_id: postId, at: at?.toISOString() ?? null },
        }),
      ),
    enabled: typed.places.length > 0 && !isEmpty(typed),
    placeholderData: keepPreviousData,
  });
}

export interface Approval {
  approved: boolean;
  why: string | null;
}

/** Save it as a rehearsal: would it be approved, or wait? */
export function useApproval(content: Content, saved: { id: string; revision: number } | null) {
  const workspace_id = useWorkspaceId();
  const [typed] = useDebouncedValue(content, 800);
  return useQuery({
    queryKey: [workspace_id, "rehearsal", typed, saved],
    queryFn: async (): Promise<Approval> => {
      const query = { dry_run: true };
      const answer =
        saved === null
          ? await take(api.POST("/api/v1/workspaces/{workspace_id}/posts", { params: { path: { workspace_id }, query }, body: written(typed) }))
          : await take(
              api.PATCH("/api/v1/workspaces/{workspace_id}/posts/{post_id}", {
                params: { path: { workspace_id, post_id: saved.id }, query },
                body: { ...written(typed), revision: saved.revision },
              }),
            );
      return { approved: answer.approved, why: answer.why_not_approved ?? null };
    },
    enabled: !isEmpty(typed),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

export interface NextSlot {
  account_id: string;
  at: string | null;
  zone: string;
  says: string | null;
}

/** The slot that each account would give it, in the order of time. */
export function useNextSlots(places: readonly Place[]): NextSlot[] | undefined {
  const workspace_id = useWorkspaceId();
  const accounts = [...new Set(places.map((each) => each.account_id))];
  const asked = useQueries({
    queries: accounts.map((account_id) => ({
      queryKey: [workspace_id, "next-slot", account_id],
      queryFn: async (): Promise<NextSlot> => {
        const queue = await take(
          api.GET("/api/v1/workspaces/{workspace_id}/accounts/{account_id}/queue", {
            params: { path: { workspace_id, account_id }, query: { days: 62 } },
          }),
        );
        const free = queue.days.flatMap((day) => day.lines).find((line) => line.kind === "empty");
        return { account_id, at: free?.at ?? null, zone: queue.zone, says: free === undefined ? "No slot is free within two months." : null };
      },
      retry: false,
    })),
  });
  if (asked.some((each) => each.isPending)) return undefined;
  return asked
    .map((each, index): NextSlot => each.data ?? { account_id: accounts[index] ?? "", at: null, zone: "UTC", says: each.error?.message ?? null })
    .sort((one, other) => (one.at ?? "9").localeCompare(other.at ?? "9"));
}
