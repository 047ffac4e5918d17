// The words that people see for the machine's: networks, channels, states.
const networks: Record<string, string> = {
  bluesky: "Bluesky",
  discord: "Discord",
  facebook: "Facebook",
  instagram: "Instagram",
  linkedin: "LinkedIn",
  mastodon: "Mastodon",
  simulated: "Simulated network",
  slack: "Slack",
  smtp: "E-mail (SMTP)",
  telegram: "Telegram",
  telegram_person: "Telegram (a person)",
  threads: "Threads",
  unipile: "LinkedIn messages (Unipile)",
  webhook: "Webhook",
  x: "X",
};

const channels: Record<string, string> = {
  facebook_page: "Facebook page",
  instagram_feed: "Instagram feed",
  instagram_story: "Instagram story",
  linkedin_profile: "LinkedIn profile",
  linkedin_organization: "LinkedIn page",
  linkedin_message: "LinkedIn message",
  linkedin_invitation: "LinkedIn invitation",
  linkedin_inmail: "LinkedIn InMail",
  email: "E-mail",
};

export interface Word {
  says: string;
  colour: string;
}

const states: Record<string, Word> = {
  draft: { says: "Draft", colour: "gray" },
  in_review: { says: "In review", colour: "grape" },
  approved: { says: "Approved", colour: "teal" },
  scheduled: { says: "Scheduled", colour: "blue" },
  sending: { says: "On its way", colour: "cyan" },
  sent: { says: "Sent", colour: "teal" },
  published: { says: "Published", colour: "teal" },
  partially_published: { says: "Partly published", colour: "orange" },
  partial: { says: "Partly published", colour: "orange" },
  failed: { says: "Failed", colour: "red" },
  unconfirmed: { says: "Unconfirmed", colour: "orange" },
  missed: { says: "Missed", colour: "orange" },
  canceled: { says: "Canceled", colour: "gray" },
  skipped: { says: "Skipped", colour: "gray" },
  held: { says: "Held", colour: "yellow" },
  paused: { says: "Paused", colour: "yellow" },
};

const accountStates: Record<string, Word> = {
  connected: { says: "Connected", colour: "teal" },
  expiring: { says: "Connection ends soon", colour: "yellow" },
  needs_reconnect: { says: "Needs connecting again", colour: "red" },
  suspended: { says: "Suspended", colour: "red" },
  disconnected: { says: "Disconnected", colour: "gray" },
};

const plain = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");

export const networkName = (provider: string): string => networks[provider] ?? plain(provider);
export const channelName = (channel: string): string => channels[channel] ?? networks[channel] ?? plain(channel);
export const stateWord = (state: string): Word => states[state] ?? { says: plain(state), colour: "gray" };
/** How a delivery stands: what holds it comes before its state. */
export const standing = ({ state, held }: { state: string; held?: { code: string } | null }): string =>
  held === null || held === undefined ? state : held.code === "paused" ? "paused" : "held";
export const accountWord = (state: string): Word => accountStates[state] ?? { says: plain(state), colour: "red" };

const blockers: Record<string, string> = { "needs copy": "its text is not written yet", "needs media": "it has no picture yet" };

/** What keeps a post back, as part of a sentence. */
export const blockerWords = (blocker: string): string => blockers[blocker] ?? blocker;

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** With one full stop behind, whether the words came with one or not. */
export const stopped = (words: string): string => words.replace(/[.\s]+$/, "") + (/[!?…]\s*$/.test(words) ? "" : ".");

/** The server's words as a sentence: a capital in front, one full stop behind. */
export const asSentence = (words: string): string => stopped(words.charAt(0).toUpperCase() + words.slice(1));
