import { expect, test } from "vitest";

import { empty, isEmpty, ownFields, vary, written } from "./content";
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

test("the button says the result in the account's own time", () => {
  const slot = (at: string | null) => ({ account_id: "a", at, zone: "Pacific/Auckland", says: null });
  const said = { at: null, zone: "UTC", approved: true, previews: [], post: null } as const;
  const label = (slots: ReturnType<typeof slot>[]) => labelOf({ ...said, way: "queue", slots });
  expect(label([slot("2026-05-11T21:00:00Z")])).toBe("Add to queue: Tue 12 May 09:00 Auckland");
  expect(label([slot("2026-05-11T21:00:00Z"), slot("2026-05-12T21:00:00Z")])).toBe("Add to queue: Tue 12 May 09:00 Auckland and 1 more");
  expect(label([slot(null)])).toBe("Add to queue");
  expect(labelOf({ ...said, way: "now", slots: undefined, approved: false })).toBe("Approve and publish now");
});
