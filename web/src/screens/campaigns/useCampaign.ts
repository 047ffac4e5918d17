// A campaign as it moves. Single sends are no events of the workspace: a campaign has a stream of its own, which the page of
// one follows while somebody sees it. Lists, and a page whose stream broke, ask again now and then.
import { useDocumentVisibility } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { inMode } from "./form";
import { t } from "../../messages/campaigns";

export type Campaign = Schemas["CampaignView"];
export type CampaignInput = Schemas["CampaignInput"];
export type StartPlan = Schemas["CampaignStartView"];

export const CAMPAIGN = "/api/v1/workspaces/{workspace_id}/campaigns/{campaign_id}";
const OFTEN = 1_500;
const SELDOM = 5_000; // a paused one: another person's new speed is no event either

export const isMoving = ({ state }: Pick<Campaign, "state">): boolean => state === "queued" || state === "running";

/** How often to ask again; never for what has ended or not begun, because events tell when it moves on. */
export const whileMoving = (campaigns: readonly Campaign[]): number | false => (campaigns.some(isMoving) ? OFTEN : campaigns.some(({ state }) => state === "paused") ? SELDOM : false);

export function useCampaign(campaign_id: string) {
  const workspace_id = useWorkspaceId();
  const found = useQuery({
    queryKey: [workspace_id, "campaign", campaign_id],
    queryFn: () => take(api.GET(CAMPAIGN, { params: { path: { workspace_id, campaign_id } } })),
    refetchInterval: ({ state }) => (state.data !== undefined && whileMoving([state.data]) !== false ? SELDOM : false),
  });
  useProgress(campaign_id, found.data !== undefined && whileMoving([found.data]) !== false);
  return found;
}

/** Take over what the campaign's stream tells, as long as there is something to tell. */
function useProgress(campaign_id: string, isOpen: boolean) {
  const workspace_id = useWorkspaceId();
  const queries = useQueryClient();
  const isSeen = useDocumentVisibility() === "visible"; // browsers open six lines to a server, so a hidden tab holds none
  useEffect(() => {
    if (!isOpen || !isSeen) return;
    const source = new EventSource(`/api/v1/workspaces/${encodeURIComponent(workspace_id)}/campaigns/${encodeURIComponent(campaign_id)}/progress`);
    source.onmessage = ({ data }: MessageEvent<string>) => {
      const { data: campaign } = JSON.parse(data) as { data: Campaign };
      queries.setQueryData([workspace_id, "campaign", campaign_id], campaign);
    };
    return () => source.close();
  }, [workspace_id, campaign_id, isOpen, isSeen, queries]);
}

/** Everything that can be done with a campaign that was started. */
export function useCampaignActs({ id: campaign_id, name }: Pick<Campaign, "id" | "name">) {
  const workspace_id = useWorkspaceId();
  const params = { path: { workspace_id, campaign_id } };
  return {
    pause: useAct("campaign", (reason: string) => take(api.POST(`${CAMPAIGN}/pause`, { params, body: { reason } })), { done: () => t("nameIsPaused", { name }) }),
    resume: useAct("campaign", () => take(api.POST(`${CAMPAIGN}/resume`, { params })), { done: () => t("nameGoesOn", { name }) }),
    cancel: useAct("campaign", () => take(api.POST(`${CAMPAIGN}/cancel`, { params })), { done: ({ progress }) => t("nameIsCanceled", { name, canceled: progress.canceled }) }),
    retry: useAct("campaign", () => take(api.POST(`${CAMPAIGN}/retry-failed`, { params })), { done: () => t("failedOnesAreSentAgain") }),
    remaining: useAct("campaign", () => take(api.POST(`${CAMPAIGN}/send-to-remaining`, { params })), { done: () => t("lookingForNewMembers") }),
    rate: useAct("campaign", (delivery_rate: number) => take(api.POST(`${CAMPAIGN}/rate`, { params, body: { delivery_rate } })), {
      done: ({ delivery_rate }) => t("nowAtMostPerMinute", { rate: delivery_rate ?? 0 }),
    }),
    duplicate: useAct("campaign", () => take(api.POST(`${CAMPAIGN}/duplicate`, { params })), { done: () => t("nameWasCopied", { name }) }),
    /** A copy of a test run that reaches people once it is started. */
    real: useAct("campaign", async () => {
      const copy = await take(api.POST(`${CAMPAIGN}/duplicate`, { params }));
      return take(api.PUT(CAMPAIGN, { params: { path: { workspace_id, campaign_id: copy.id } }, body: inMode(copy, "live") }));
    }),
    remove: useAct("campaign", () => take(api.DELETE(CAMPAIGN, { params })), { done: () => t("nameIsDeleted", { name }) }),
  };
}
