// How an account is, in plain words: the first thing that keeps it from sending, or that will.
import type { Account } from "../../api/accounts";
import { moment } from "../../ui/times";
import { accountWord, asSentence, stopped } from "../../ui/words";
import { t } from "../../messages/accounts";

export interface Health {
  message: string;
  colour: string;
  more: string | null;
}

export function healthOf(account: Account, now = new Date()): Health {
  const { lane } = account;
  const why = account.state_reason === null ? null : t("theNetworkSaidReason", { reason: stopped(account.state_reason) });
  if (account.state === "needs_reconnect")
    return { ...accountWord(account.state), more: t("whyPostsAreKeptUntilYou", { why: why ?? t("theNetworkNoLongerAcceptsOur") }) };
  if (account.state === "suspended") return { ...accountWord(account.state), more: t("reasonNothingIsSentUntilAn", { reason: asSentence(account.state_reason ?? t("manyRecipientsFailedInARow")) }) };
  if (account.state === "disconnected") return { ...accountWord(account.state), more: t("itDoesntSendAnythingItsHistory") };
  if (lane?.paused === true) {
    const reason = asSentence(lane.pause_reason ?? t("noReasonGiven"));
    return { message: t("paused"), colour: "yellow", more: lane.paused_until === null ? reason : t("reasonUntilTime", { reason, time: moment(lane.paused_until, account.zone) }) };
  }
  if (account.to_resume > 0)
    return { message: t("postsNeedADecision"), colour: "yellow", more: t("postsWereDueWhileItWas", { toResume: account.to_resume }) };
  if (lane !== null && lane.parked_until !== null && new Date(lane.parked_until) > now)
    return { message: t("waiting"), colour: "yellow", more: t("reasonItContinuesTime", { reason: asSentence(lane.park_reason ?? t("aLimitWasReached")), time: moment(lane.parked_until, account.zone) }) };
  if (account.state === "expiring") {
    const reason = why ?? t("weCouldntRenewItsAccessYet");
    return { ...accountWord(account.state), more: account.token_expires_at === null ? reason : t("reasonAccessExpiresTime", { reason, time: moment(account.token_expires_at, account.zone) }) };
  }
  return { ...accountWord(account.state), more: null };
}
