// What each channel takes and lets one choose, as the networks declare it.
import { useQuery } from "@tanstack/react-query";

import type { Account } from "../../api/accounts";
import { api, take, type Schemas } from "../../api/client";

export type ChannelAbout = Schemas["ChannelView"];
export type Option = Schemas["OptionView"];

export function useChannels(): ChannelAbout[] {
  const asked = useQuery({ queryKey: ["channels"], queryFn: () => take(api.GET("/api/v1/channels")), staleTime: 3_600_000 });
  return asked.data ?? [];
}

/** The channels that an account can publish posts on; a LinkedIn identity is a person or a page, never both. */
export function offeredBy(channels: readonly ChannelAbout[], account: Pick<Account, "provider">): ChannelAbout[] {
  if (account.provider === "linkedin") return [];
  return channels.filter((each) => each.provider === account.provider && !each.needs_recipient);
}
