import {
  IconBrandBluesky,
  IconBrandDiscord,
  IconBrandFacebook,
  IconBrandInstagram,
  IconBrandLinkedin,
  IconBrandMastodon,
  IconBrandSlack,
  IconBrandTelegram,
  IconBrandThreads,
  IconBrandX,
  IconMail,
  IconWebhook,
  IconWorld,
  type Icon,
} from "@tabler/icons-react";

const pictures: [string, Icon][] = [
  ["bluesky", IconBrandBluesky],
  ["discord", IconBrandDiscord],
  ["facebook", IconBrandFacebook],
  ["instagram", IconBrandInstagram],
  ["linkedin", IconBrandLinkedin],
  ["unipile", IconBrandLinkedin],
  ["mastodon", IconBrandMastodon],
  ["slack", IconBrandSlack],
  ["telegram", IconBrandTelegram],
  ["threads", IconBrandThreads],
  ["webhook", IconWebhook],
  ["smtp", IconMail],
  ["email", IconMail],
];

/** The picture of a network or of one of its channels. */
export function NetworkIcon({ of, size = 18 }: { of: string; size?: number }) {
  const Picture = of === "x" ? IconBrandX : (pictures.find(([name]) => of.startsWith(name))?.[1] ?? IconWorld);
  return <Picture size={size} aria-hidden style={{ flex: "none" }} />;
}
