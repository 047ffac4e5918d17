import { expect, test } from "vitest";

import { actOf, wentWords, type Way } from "./carryOut";
import { channelsOf, choose, empty, isEmpty, isVaried, onChannels, ownFields, vary, written, type Post } from "./content";
import { hashtagsOf } from "./Filing";
import type { Went } from "./foresee";
import { labelOf } from "./labels";

test("a channel follows the common words until it is given its own, and again when they are taken back", () => {
  const own = vary({ ...empty, text: "all" }, "mastodon", "text", "mine");
  expect(ownFields(own, "mastodon")).toEqual(["text"]);
  expect(written(own).variants).toEqual({ mastodon: { options: {}, text: "mine" } });
  const back = vary(own, "mastodon", "text", undefined);
  expect(back.variants).toEqual({});
});

test("an own text that is empty is still its own", () => {
  const own = vary({ ...empty, text: "all" }, "mastodon", "first_comment", "");
  expect(ownFields(own, "mastodon")).toEqual(["first_comment"]);
});

test("options of a channel outlive its own text", () => {
  const begun = { ...empty, variants: { mastodon: { text: "mine", options: { visibility: "unlisted" } } } };
  expect(vary(begun, "mastodon", "text", undefined).variants).toEqual({ mastodon: { options: { visibility: "unlisted" } } });
});

test("nothing is empty but what has neither words nor pictures", () => {
  expect(isEmpty(empty)).toBe(true);
  expect(isEmpty({ ...empty, media: [{ media_id: "1", alt: null }] })).toBe(false);
});

const went = (account_id: string, at: string | null, more: Partial<Went> = {}): Went => ({ account_id, channel: null, outcome: "queued", at, zone: "Pacific/Auckland", by_hand: false, message: null, warnings: [], ...more });

test("the button says the result in the account's own time", () => {
  const label = (way: Way, places?: Went[]) => labelOf({ way, places, approving: false, zone: "UTC", post: null });
  expect(label("queue", [went("a", "2026-05-11T21:00:00Z")])).toBe("Add to queue: Tue 12 May 09:00 Auckland");
  expect(label("queue", [went("b", "2026-05-12T21:00:00Z"), went("a", "2026-05-11T21:00:00Z")])).toBe("Add to queue: 2 accounts, first Tue 12 May 09:00 Auckland");
  expect(label("queue", [went("a", "2026-05-11T21:00:00Z"), went("b", "2026-05-11T21:00:00Z")])).toBe("Add to queue: 2 accounts, all Tue 12 May 09:00 Auckland");
  expect(label("queue", [went("a", null, { outcome: "refused", message: "no room" })])).toBe("Add to queue");
  expect(label("queue")).toBe("Add to queue");
  expect(label("time", [went("a", "2026-05-11T21:00:00Z", { outcome: "timed", channel: "instagram_feed" }), went("a", "2026-05-11T21:00:00Z", { outcome: "timed", channel: "instagram_story" })])).toBe("Schedule: Tue 12 May 09:00 Auckland");
});

test("the button says when the same press approves", () => {
  const places = [went("a", null, { outcome: "now" }), went("b", null, { outcome: "now" })];
  expect(labelOf({ way: "now", places, approving: true, zone: "UTC", post: null })).toBe("Approve and publish now to 2 accounts");
});

test("what it came to is told place by place", () => {
  expect(wentWords([went("a", null, { outcome: "now" }), went("b", null, { outcome: "refused", message: "it has no queue" })])).toBe("Publishing to 1 account. Not sent: it has no queue.");
  expect(wentWords([went("a", "2026-05-11T21:00:00Z")])).toBe("Goes out Tue 12 May 09:00 Auckland.");
});

test("what a pause or a lost connection holds is not told to go out", () => {
  const held = (code: "paused" | "account") => [{ account_id: "a", handle: "@ada", held: { code, message: "news", until: null } }];
  expect(wentWords([went("a", "2026-05-11T21:00:00Z")], held("paused"))).toBe("Planned for Tue 12 May 09:00 Auckland. @ada is paused. Nothing is sent until you resume it.");
  expect(wentWords([went("a", "2026-05-11T21:00:00Z", { outcome: "now" })], held("account"))).toBe("Not sent yet. @ada can't send until it's reconnected.");
});

test("what was done names the account", () => {
  const pills = [{ account_id: "a", handle: "@ada", held: null }];
  expect(wentWords([went("a", "2026-05-11T21:00:00Z")], pills)).toBe("Goes out Tue 12 May 09:00 Auckland from @ada.");
  expect(wentWords([went("a", null, { outcome: "now" })], pills)).toBe("Publishing to 1 account: @ada.");
});

test("what stays as it was saved is not sent again", () => {
  const saved = { post: { id: "p" } as Post, revision: 3 };
  const submission = { content: { ...empty, text: "all", places: [{ account_id: "a" }] }, saved, at: null, wall: "2026-05-12T09:00", zone: "Europe/Berlin" };
  expect(actOf({ ...submission, way: "queue", reworded: false })).toMatchObject({ content: null, post_id: "p", goes: "queue", accounts: [{ account_id: "a" }], at: null, zone: null });
  expect(actOf({ ...submission, way: "time", reworded: true })).toMatchObject({ goes: "time", at: "2026-05-12T09:00", zone: "Europe/Berlin" });
  expect(actOf({ ...submission, way: "save", reworded: true })).toMatchObject({ goes: "nowhere", accounts: [] });
});

test("channels of an account are named in its own place of the list, and at least its usual ones stay", () => {
  const begun = [{ account_id: "a" }, { account_id: "b" }];
  const both = onChannels(begun, "a", ["instagram_feed", "instagram_story"]);
  expect(both.map((each) => each.channel)).toEqual(["instagram_feed", "instagram_story", undefined]);
  expect(channelsOf(both, "a")).toEqual(["instagram_feed", "instagram_story"]);
  expect(onChannels(both, "a", [])).toEqual(begun);
});

test("what is chosen on a channel makes it differ, until it is left to the network again", () => {
  const chosen = choose(empty, "mastodon", "visibility", "unlisted");
  expect(isVaried(chosen, "mastodon")).toBe(true);
  expect(choose(chosen, "mastodon", "visibility", undefined).variants).toEqual({});
});

test("a category brings the hashtags of its brand before its own", () => {
  const categories = [
    { id: "brand", parent_id: null, hashtags: ["hall"] },
    { id: "season", parent_id: "brand", hashtags: ["season", "hall"] },
  ];
  expect(hashtagsOf(categories, "season")).toEqual(["hall", "season"]);
  expect(hashtagsOf(categories, null)).toEqual([]);
});
