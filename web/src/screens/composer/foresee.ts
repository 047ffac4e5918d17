// What would become of what is typed: previews and counts, troubles, approval and times. Nothing is written.
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { isEmpty, written, type Content } from "./content";

export type Preview = Schemas["PreviewView"];
export type Finding = Schemas["FindingView"];

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

/** Duplicates, expiring connections, files that do not fit: what the pipeline would ask. */
export function useFindings(content: Content, postId: string | null) {
  const workspace_id = useWorkspaceId();
  const [typed] = useDebouncedValue(content, 800);
  return useQuery({
    queryKey: [workspace_id, "check", typed, postId],
    queryFn: () =>
      take(
        api.POST("/api/v1/workspaces/{workspace_id}/posts/check", {
          params: { path: { workspace_id } },
          body: { ...written(typed), accounts: typed.places, post_id: postId, at: null },
        }),
      ),
    enabled: typed.places.length > 0 && !isEmpty(typed),
    placeholderData: keepPreviousData,
  });
}

export type Act = Schemas["ComposeInput"];
export type Went = Schemas["ComposeOutcome"];

/** What the button's own act would come to; nothing of it stays. */
export interface Foreseen {
  composed: Schemas["Composed"];
  /** It goes out now only with an approval that the same press gives. */
  approving: boolean;
}

/** Carry the act out, or try it as a dry run. Publishing now approves only where an approval is wanting. */
export async function compose(workspaceId: string, act: Act, dry_run: boolean): Promise<Foreseen> {
  const params = { path: { workspace_id: workspaceId }, query: { dry_run } };
  const send = (body: Act) => take(api.POST("/api/v1/workspaces/{workspace_id}/posts/compose", { params, body }));
  try {
    return { composed: await send(act), approving: false };
  } catch (error) {
    if (!(act.goes === "now" && error instanceof Problem && error.code === "not_approved")) throw error;
    return { composed: await send({ ...act, approve: true }), approving: true };
  }
}

/** Rehearse exactly what the button would do. An answer to another act is not shown as this one's. */
export function useDryRun(act: Act | null) {
  const workspaceId = useWorkspaceId();
  const [typed] = useDebouncedValue(act, 500);
  const asked = useQuery({
    queryKey: [workspaceId, "dry-run", typed],
    queryFn: async () => ({ ...(typed === null ? null : await compose(workspaceId, typed, true)), about: aboutOf(typed) }),
    enabled: typed !== null,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const { data } = asked;
  // Other words take the same slot: the time stays on the button while somebody types.
  const fits = data?.composed !== undefined && data.about === aboutOf(act);
  return { foreseen: fits ? (data as Foreseen) : undefined, error: asked.isPlaceholderData ? null : asked.error };
}

/** What of an act decides about places and times. */
function aboutOf(act: Act | null): string {
  return act === null ? "" : JSON.stringify([act.post_id, act.goes, act.accounts, act.at, act.zone]);
}
