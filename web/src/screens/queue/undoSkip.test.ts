import { expect, it } from "vitest";

import { refuse, serve, writes } from "../../test/server";
import { undoSkip } from "./undoSkip";

const path = { workspace_id: "home", account_id: "one" };
const moved = [
  { id: "b", post_id: "post-b", was_at: "2026-10-22T07:00:00Z", now_at: "2026-10-22T15:30:00Z" },
  { id: "a", post_id: "post-a", was_at: "2026-10-21T15:30:00Z", now_at: "2026-10-22T07:00:00Z" },
];
const skipped = { moved, revision: 4 };
const at = ["2026-10-21T15:30:00Z"];

it("offers the slot again and gives every post its time back", async () => {
  serve(({ url }) => (url.endsWith("/lift") ? { revision: 5 } : url.endsWith("/slots") ? { revision: 6 } : { revision: 7 }));
  expect(await undoSkip(path, at, skipped)).toBe("Slot restored, and 2 posts have their old times back.");
  expect((await writes()).map(({ body }) => body)).toEqual([
    { instants: at },
    { post_id: "post-b", at: "2026-10-21T15:30:00Z" },
    { verb: "order", ids: ["a", "b"], revision: 6 },
  ]);
});

it("leaves the posts when somebody changed the queue since, and says so", async () => {
  serve(() => ({ revision: 9 }));
  expect(await undoSkip(path, at, skipped)).toContain("The posts stay where they are because the queue has changed since");
  expect(await writes()).toHaveLength(1);
});

it("says what was not done when the way back ends half-way", async () => {
  serve(({ url }) => (url.endsWith("/lift") ? { revision: 5 } : refuse(409, "no_room", "The slot is taken.")));
  expect(await undoSkip(path, at, skipped)).toBe("Slot restored, but the posts stay where they are: The slot is taken.");
});

it("moves nothing where nothing had moved", async () => {
  serve(() => ({ revision: 5 }));
  expect(await undoSkip(path, at, { moved: [], revision: 4 })).toBe("Slot restored.");
});
