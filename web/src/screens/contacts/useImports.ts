import { useQuery } from "@tanstack/react-query";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";

export type ContactImport = Schemas["ImportView"];
export type ImportOptions = Schemas["ImportOptions"];
export type ImportKind = ContactImport["kind"];

export const IMPORT = "/api/v1/workspaces/{workspace_id}/contact-imports/{import_id}";
const OFTEN = 1_000;

const isMoving = ({ state }: ContactImport): boolean => state === "trying" || state === "running" || state === "undoing";

export function useImports() {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "contact-imports"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/contact-imports", { params: { path: { workspace_id } } })),
    refetchInterval: ({ state }) => (state.data?.some(isMoving) === true ? OFTEN : false),
  });
}

export function useImport(import_id: string) {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "contact-imports", import_id],
    queryFn: () => take(api.GET(IMPORT, { params: { path: { workspace_id, import_id } } })),
    refetchInterval: ({ state }) => (state.data !== undefined && isMoving(state.data) ? OFTEN : false),
  });
}

export function useImportActs({ id: import_id }: Pick<ContactImport, "id">) {
  const params = { path: { workspace_id: useWorkspaceId(), import_id } };
  return {
    attempt: useAct("contact_import", (body: ImportOptions) => take(api.POST(`${IMPORT}/try`, { params, body }))),
    start: useAct("contact_import", (body: ImportOptions) => take(api.POST(`${IMPORT}/start`, { params, body }))),
    cancel: useAct("contact_import", () => take(api.POST(`${IMPORT}/cancel`, { params }))),
    undo: useAct("contact_import", () => take(api.POST(`${IMPORT}/undo`, { params }))),
  };
}
