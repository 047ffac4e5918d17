// What the composer holds: the common words, what single channels have of their own, and where it goes.
import type { Schemas } from "../../api/client";

export type Channel = Schemas["Channel"];
export type Place = { account_id: string; channel?: Channel | null };
export type MediaUse = { media_id: string; alt: string | null };
export type Post = Schemas["PostView"];

/** What can be different on one channel; a field that is left out is as everywhere. */
export interface Variant {
  text?: string;
  media?: MediaUse[];
  hashtags?: string[];
  parts?: string[];
  first_comment?: string;
  link?: string;
  options?: Record<string, unknown>;
}

export interface Content {
  title: string;
  text: string;
  parts: string[];
  first_comment: string;
  link: string;
  hashtags: string[];
  labels: string[];
  media: MediaUse[];
  category_id: string | null;
  variants: Partial<Record<Channel, Variant>>;
  places: Place[];
}

export type Field = Exclude<keyof Variant, "options">;

export const empty: Content = {
  title: "",
  text: "",
  parts: [],
  first_comment: "",
  link: "",
  hashtags: [],
  labels: [],
  media: [],
  category_id: null,
  variants: {},
  places: [],
};

const GONE = ["canceled", "skipped"];

/** A saved post as the composer holds it. */
export function contentOf(post: Post): Content {
  const variants: Content["variants"] = {};
  for (const [channel, shown] of Object.entries(post.variants)) {
    const own = Object.entries(shown).filter(([, value]) => value !== null);
    variants[channel as Channel] = Object.fromEntries(own) as Variant;
  }
  const places = post.pills
    .filter(({ state }) => !GONE.includes(state))
    .map(({ account_id, channel }) => ({ account_id, channel: channel as Channel }));
  return {
    title: post.title,
    text: post.text,
    parts: post.parts,
    first_comment: post.first_comment ?? "",
    link: post.link ?? "",
    hashtags: post.hashtags,
    labels: post.labels,
    media: post.media,
    category_id: post.category_id,
    variants,
    places,
  };
}

/** The words as the server takes them. */
export function written(content: Content) {
  const { places: _, first_comment, link, variants, ...rest } = content;
  return {
    ...rest,
    first_comment: first_comment === "" ? null : first_comment,
    link: link === "" ? null : link,
    variants: Object.fromEntries(
      Object.entries(variants).map(([channel, variant]) => [channel, { options: {}, ...variant }]),
    ),
  };
}

/** Say whether the words differ; where they go is not saved with them. */
export function isReworded(content: Content, saved: Content): boolean {
  return JSON.stringify(written(content)) !== JSON.stringify(written(saved));
}

/** Give one channel something of its own; undefined lets it follow the common words again. */
export function vary<F extends Field>(content: Content, channel: Channel, field: F, value: Variant[F] | undefined): Content {
  const { [field]: _, ...others } = content.variants[channel] ?? {};
  const next: Variant = value === undefined ? others : { ...others, [field]: value };
  const variants = { ...content.variants };
  const bare = Object.keys(next).every((key) => key === "options" && Object.keys(next.options ?? {}).length === 0);
  if (bare) delete variants[channel];
  else variants[channel] = next;
  return { ...content, variants };
}

/** Change the files of a channel that has its own; one that follows the others by now is left to follow them. */
export function varyMedia(content: Content, channel: Channel, change: (media: MediaUse[]) => MediaUse[]): Content {
  const own = content.variants[channel]?.media;
  return own === undefined ? content : vary(content, channel, "media", change(own));
}

/** Choose something that the channel's network offers; undefined leaves it to the network's own usual. */
export function choose(content: Content, channel: Channel, name: string, value: unknown): Content {
  const { options = {}, ...rest } = content.variants[channel] ?? {};
  const { [name]: _, ...others } = options;
  const next = value === undefined ? others : { ...others, [name]: value };
  const variants = { ...content.variants };
  if (Object.keys(next).length === 0 && Object.keys(rest).length === 0) delete variants[channel];
  else variants[channel] = { ...rest, options: next };
  return { ...content, variants };
}

/** Which channels of an account are named; none: its usual ones. */
export function channelsOf(places: readonly Place[], accountId: string): Channel[] {
  return places.flatMap((each) => (each.account_id === accountId && each.channel !== undefined && each.channel !== null ? [each.channel] : []));
}

/** Name the channels of an account; the others keep theirs. */
export function onChannels(places: readonly Place[], accountId: string, channels: readonly Channel[]): Place[] {
  const at = places.findIndex((each) => each.account_id === accountId);
  const others = places.filter((each) => each.account_id !== accountId);
  const named = channels.length === 0 ? [{ account_id: accountId }] : channels.map((channel) => ({ account_id: accountId, channel }));
  return others.toSpliced(at, 0, ...named);
}

/** Say whether a channel differs from the others in anything. */
export function isVaried(content: Content, channel: Channel): boolean {
  return ownFields(content, channel).length > 0 || Object.keys(content.variants[channel]?.options ?? {}).length > 0;
}

/** Which fields a channel has of its own. */
export function ownFields(content: Content, channel: Channel): Field[] {
  return (Object.keys(content.variants[channel] ?? {}) as (keyof Variant)[]).filter((key): key is Field => key !== "options");
}

export function isEmpty(content: Content): boolean {
  return content.text === "" && content.media.length === 0 && content.parts.length === 0 && Object.keys(content.variants).length === 0;
}
