// How an account is, in plain words: the first thing that keeps it from sending, or that will.
import type { Account } from "../../api/accounts";
import { moment } from "../../ui/times";
import { accountWord, asSentence, count, stopped } from "../../ui/words";

export interface Health {
  says: string;
  colour: string;
  more: string | null;
}

export function healthOf(account: Account, now = new Date()): Health {
  const { lane } = account;
  const why = account.state_reason === null ? null : `The network says: ${stopped(account.state_reason)}`;
  if (account.state === "needs_reconnect")
    return { ...accountWord(account.state), more: `${why ?? "The network no longer accepts our key."} Posts are kept until it is connected again.` };
  if (account.state === "suspended") return { ...accountWord(account.state), more: `${asSentence(account.state_reason ?? "many recipients failed in a row")} Nothing is sent until a person looked and lets it go on.` };
  if (account.state === "disconnected") return { ...accountWord(account.state), more: "It sends nothing; its history stays." };
  if (lane?.paused === true) {
    const until = lane.paused_until === null ? "" : ` Until ${moment(lane.paused_until, account.zone)}.`;
    return { says: "Paused", colour: "yellow", more: `${asSentence(lane.pause_reason ?? "no reason was given")}${until}` };
  }
  if (account.to_resume > 0)
    return { says: "Posts wait for you", colour: "yellow", more: `${count(account.to_resume, "post")} came due while it was disconnected. It sends new posts; resume it to say what happens to these.` };
  if (lane !== null && lane.parked_until !== null && new Date(lane.parked_until) > now)
    return { says: "Waiting", colour: "yellow", more: `${asSentence(lane.park_reason ?? "a limit is reached")} It goes on ${moment(lane.parked_until, account.zone)}.` };
  if (account.state === "expiring") {
    const ends = account.token_expires_at === null ? "" : ` It ends ${moment(account.token_expires_at, account.zone)}.`;
    return { ...accountWord(account.state), more: `${why ?? "Renewing it by itself did not work yet."}${ends}` };
  }
  return { ...accountWord(account.state), more: null };
}
