// A campaign as it moves. Single sends are no events of the workspace, so while one is sending it is asked again and again:
// this is the one place to change once the server pushes progress.
import { useQuery } from "@tanstack/react-query";

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

export const isMoving = ({ state }: Pick<Campaign, "state">): boolean => state === "queued" || state === "running";

/** How often to ask again; never for what stands still, because events tell when it moves on. */
export const whileMoving = (campaigns: readonly Campaign[]): number | false => (campaigns.some(isMoving) ? OFTEN : false);

export function useCampaign(campaign_id: string) {
  const workspace_id = useWorkspaceId();
  return useQuery({
    queryKey: [workspace_id, "campaign", campaign_id],
    queryFn: () => take(api.GET(CAMPAIGN, { params: { path: { workspace_id, campaign_id } } })),
    refetchInterval: ({ state }) => (state.data === undefined ? false : whileMoving([state.data])),
  });
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
