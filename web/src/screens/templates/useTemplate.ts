import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";

export const TEMPLATES = "/api/v1/workspaces/{workspace_id}/templates";
export const TEMPLATE = "/api/v1/workspaces/{workspace_id}/templates/{template_id}";
export type Content = Schemas["TemplateContentView"];
export type PreviewInput = Schemas["UnsavedPreviewInput"];

export function useTemplate(template_id: string) {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "template", template_id],
    queryFn: () => take(api.GET(TEMPLATE, { params: { path: { workspace_id, template_id } } })),
  });
}

/** How it looks, before it is saved. */
export function usePreview(body: PreviewInput) {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "template-preview", body],
    queryFn: () => take(api.POST(`${TEMPLATES}/preview`, { params: { path: { workspace_id } }, body })),
    enabled: body.body !== "" || body.subject !== "",
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** What the form does not show: styles, files, and texts for single channels. */
export function hiddenParts(content: Content | undefined): Pick<PreviewInput, "css" | "text" | "media" | "variants"> {
  const { css = "", text = null, media = [], variants = {} } = content ?? {};
  return { css, text, media, variants: variants as PreviewInput["variants"] };
}
