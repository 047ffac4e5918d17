// A campaign as its form holds it, and as the server takes it.
import { localInstant } from "../../ui/localInstant";
import { wallTime } from "../../ui/times";
import type { Campaign, CampaignInput } from "./useCampaign";

export interface CampaignForm {
  name: string;
  channel: Campaign["channel"];
  audience_id: string | null;
  template_id: string | null;
  account_ids: string[];
  /** Empty: as fast as the accounts allow. */
  rate: number | "";
  /** A wall time of the workspace's zone; empty: at once. */
  start: string;
  skip_incomplete: boolean;
  max_error_percent: number;
}

export const newForm: CampaignForm = {
  name: "",
  channel: "email",
  audience_id: null,
  template_id: null,
  account_ids: [],
  rate: 60,
  start: "",
  skip_incomplete: false,
  max_error_percent: 10,
};

export function formOf(campaign: Campaign, zone: string): CampaignForm {
  const { name, channel, audience_id, template_id, account_ids, skip_incomplete, max_error_percent } = campaign;
  const start = campaign.start_at === null ? "" : wallTime(campaign.start_at, zone);
  return { name, channel, audience_id, template_id, account_ids, rate: campaign.delivery_rate ?? "", start, skip_incomplete, max_error_percent };
}

/** What the form does not show stays as it was. */
export function inputOf(form: CampaignForm, zone: string, before: Campaign | null): CampaignInput {
  const { rate, start, audience_id, template_id, ...rest } = form;
  return {
    ...(before === null ? usual : inMode(before, before.mode)),
    ...rest,
    audience_id: audience_id ?? "",
    template_id: template_id ?? "",
    delivery_rate: rate === "" ? null : rate,
    start_at: start === "" ? null : localInstant(start, zone).toISOString(),
  };
}

const usual = { mode: "live", description: "", params: {}, retry_limit: 3, local_start: false, max_bounce_percent: 2, test_addresses: [], test_faults: {}, variants: [], split_percent: 100, winner_by: "hand", winner_after_minutes: 240 } satisfies Partial<CampaignInput>;

/** A campaign as it is, in a mode. */
export function inMode(campaign: Campaign, mode: Campaign["mode"]): CampaignInput {
  const { name, description, audience_id, template_id, account_ids, channel, params, delivery_rate, retry_limit, skip_incomplete } = campaign;
  const { max_error_percent, max_bounce_percent, start_at, local_start, not_after_at, quiet_hours, zone, test_addresses, test_faults } = campaign;
  const { split_percent, winner_by, winner_after_minutes } = campaign;
  const variants = campaign.variants.slice(1).map(({ template_id: other }) => ({ template_id: other })); // the first is its own
  return { name, description, audience_id, template_id, account_ids, channel, params, delivery_rate, retry_limit, skip_incomplete, max_error_percent, max_bounce_percent, start_at, local_start, not_after_at, quiet_hours, zone, test_addresses, test_faults, variants, split_percent, winner_by, winner_after_minutes, mode };
}
