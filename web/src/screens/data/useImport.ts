// Sends a file to be tried or taken. A trial does all the work and takes it back, so its report is what would happen.
import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { t } from "../../messages/data";

export type Report = Schemas["Imported"];

export interface Order {
  file: File;
  /** Our column to the file's header; empty: none. */
  mapping: Record<string, string>;
  zone: string;
  whole: boolean;
}

function send(workspace_id: string, { file, mapping, zone, whole }: Order, dry_run: boolean): Promise<Report> {
  const form = new FormData();
  if (Object.keys(mapping).length > 0) form.append("mapping", JSON.stringify(mapping));
  form.append("zone", zone);
  form.append("all_or_nothing", String(whole));
  form.append("file", file); // last: the server reads the fields before it
  return take(
    api.POST("/api/v1/workspaces/{workspace_id}/imports", {
      params: { path: { workspace_id }, query: { dry_run } },
      body: form as never,
      bodySerializer: (body: unknown) => body as FormData,
    }),
  );
}

export function useColumns() {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "import-columns"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/imports/columns", { params: { path: { workspace_id } } })),
    staleTime: 3_600_000,
  });
}

/** What would become of the file's rows. */
export function useTrial(order: Order | null) {
  const workspace_id = useWorkspaceId();
  const named = order && [order.file.name, order.file.size, order.file.lastModified, order.mapping, order.zone, order.whole];
  return useQuery({
    queryKey: [workspace_id, "import-trial", named],
    queryFn: () => (order === null ? Promise.reject(new Error("no file")) : send(workspace_id, order, true)),
    enabled: order !== null,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 0,
  });
}

export function useImport(after: (report: Report) => void) {
  const workspace_id = useWorkspaceId();
  return useAct("post", (order: Order) => send(workspace_id, order, false), {
    done: ({ made, problems, taken_back }) =>
      taken_back ? t("nothingWasImportedBecauseARow") : t("imported", { made, skipped: problems.length }),
    after,
  });
}
