// What an account's network can do, so that screens speak of nothing else: Mastodon knows no InMails.
import type { Account } from "../../api/accounts";
import type { ChannelAbout } from "../composer/useChannels";
import type { Limit } from "./limits";

type Action = Limit["action"];

const ofChannel: Record<string, Action> = { email: "email", linkedin_message: "message", linkedin_invitation: "connection_request", linkedin_inmail: "inmail" };
const forMany = ["telegram", "slack", "discord", "webhook"]; // campaigns by them count as broadcasts

/** The actions of an account; all of them as long as nobody knows better. */
export function actionsOf(account: Pick<Account, "provider" | "bulk">, channels: readonly ChannelAbout[]): ReadonlySet<Action> | null {
  const own = channels.filter(({ provider }) => provider === account.provider);
  if (own.length === 0) return null;
  const found = new Set<Action>(["*"]);
  for (const { channel, needs_recipient } of own) found.add(needs_recipient ? (ofChannel[channel] ?? "message") : "post");
  if (account.provider === "telegram_person") found.add("message");
  if (forMany.includes(account.provider) || account.bulk) found.add("broadcast");
  return found;
}

/** Whether a limit or hours are about something that the account can do. */
export const can = (own: ReadonlySet<Action> | null, action: Action): boolean => own === null || own.has(action);
