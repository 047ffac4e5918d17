// The words that people see for the machine's: networks, channels, states.
import { t } from "../messages/ui";

const networks: Record<string, string> = {
  bluesky: "Bluesky",
  discord: "Discord",
  facebook: "Facebook",
  google_mail: t("emailGoogle"),
  instagram: "Instagram",
  linkedin: "LinkedIn",
  mastodon: "Mastodon",
  microsoft_mail: t("emailMicrosoft"),
  simulated: t("simulatedNetwork"),
  slack: "Slack",
  smtp: t("emailSmtp"),
  telegram: "Telegram",
  telegram_person: t("telegramPersonal"),
  threads: "Threads",
  unipile: t("linkedinMessagesUnipile"),
  webhook: "Webhook",
  x: "X",
};

const channels: Record<string, string> = {
  facebook_page: t("facebookPage"),
  instagram_feed: t("instagramFeed"),
  instagram_story: t("instagramStory"),
  linkedin_profile: t("linkedinProfile"),
  linkedin_organization: t("linkedinPage"),
  linkedin_message: t("linkedinMessage"),
  linkedin_invitation: t("linkedinInvitation"),
  linkedin_inmail: t("linkedinInMail"),
  email: t("email"),
};

export interface Word {
  message: string;
  colour: string;
}

const states: Record<string, Word> = {
  draft: { message: t("draft"), colour: "gray" },
  in_review: { message: t("inReview"), colour: "grape" },
  approved: { message: t("approved"), colour: "teal" },
  scheduled: { message: t("scheduled"), colour: "blue" },
  sending: { message: t("sending"), colour: "cyan" },
  sent: { message: t("sent"), colour: "teal" },
  published: { message: t("published"), colour: "teal" },
  partially_published: { message: t("partlyPublished"), colour: "orange" },
  partial: { message: t("partlyPublished"), colour: "orange" },
  failed: { message: t("failed"), colour: "red" },
  unconfirmed: { message: t("unconfirmed"), colour: "orange" },
  missed: { message: t("missed"), colour: "orange" },
  canceled: { message: t("canceled"), colour: "gray" },
  skipped: { message: t("skipped"), colour: "gray" },
  held: { message: t("onHold"), colour: "yellow" },
  paused: { message: t("paused"), colour: "yellow" },
  queued: { message: t("starting"), colour: "cyan" },
  running: { message: t("running"), colour: "cyan" },
  completed: { message: t("completed"), colour: "teal" },
  ended: { message: t("ended"), colour: "gray" },
  waiting: { message: t("waiting"), colour: "blue" },
  planned: { message: t("planned"), colour: "blue" },
  snoozed: { message: t("snoozed"), colour: "yellow" },
  finished: { message: t("finished"), colour: "teal" },
  stopped: { message: t("stopped"), colour: "gray" },
};

const accountStates: Record<string, Word> = {
  connected: { message: t("connected"), colour: "teal" },
  expiring: { message: t("accessExpiresSoon"), colour: "yellow" },
  needs_reconnect: { message: t("needsReconnecting"), colour: "red" },
  suspended: { message: t("suspended"), colour: "red" },
  disconnected: { message: t("disconnected"), colour: "gray" },
};

const plain = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");

export const networkName = (provider: string): string => networks[provider] ?? plain(provider);
export const channelName = (channel: string): string => channels[channel] ?? networks[channel] ?? plain(channel);
export const stateWord = (state: string): Word => states[state] ?? { message: plain(state), colour: "gray" };
/** How a delivery stands: what holds it comes before its state. */
export const standing = ({ state, held }: { state: string; held?: { code: string } | null }): string =>
  held === null || held === undefined ? state : held.code === "paused" ? "paused" : "held";
export const accountWord = (state: string): Word => accountStates[state] ?? { message: plain(state), colour: "red" };

const blockers: Record<string, string> = { "needs copy": t("itHasNoTextYet"), "needs media": t("itHasNoImageYet") };

/** What keeps a post back, as part of a sentence. */
export const blockerWords = (blocker: string): string => blockers[blocker] ?? blocker;

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** With one full stop behind, whether the words came with one or not. */
export const stopped = (words: string): string => words.replace(/[.\s]+$/, "") + (/[!?…]\s*$/.test(words) ? "" : ".");

/** The server's words as a sentence: a capital in front, one full stop behind. */
export const asSentence = (words: string): string => stopped(words.charAt(0).toUpperCase() + words.slice(1));
