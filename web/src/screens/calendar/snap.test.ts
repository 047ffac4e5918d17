import { expect, it } from "vitest";

import { snap } from "./snap";
import type { Ghost } from "./useCalendar";

const ghost = (at: string, kind: Ghost["kind"] = "empty", account = "one"): Ghost => ({ account_id: account, at, wall_time: "", zone: "UTC", kind, mark: "none" });
const slots = [ghost("2026-10-24T09:00:00Z"), ghost("2026-10-24T17:00:00Z"), ghost("2026-10-24T12:00:00Z", "capped"), ghost("2026-10-24T14:00:00Z", "empty", "other")];
const at = (text: string) => new Date(text);

it("takes the nearest free slot of the same account within reach", () => {
  expect(snap(at("2026-10-24T10:00:00Z"), slots, "one", "UTC", false)).toEqual(at("2026-10-24T09:00:00Z"));
});

it("stays where it was let go when no slot is near, or only a full or foreign one", () => {
  const between = at("2026-10-24T13:00:00Z");
  expect(snap(between, slots, "one", "UTC", false)).toEqual(between);
});

it("takes the nearest slot of the day where only days can be told apart", () => {
  expect(snap(at("2026-10-24T13:30:00Z"), slots, "one", "UTC", true)).toEqual(at("2026-10-24T17:00:00Z"));
  const other = at("2026-10-25T13:30:00Z");
  expect(snap(other, slots, "one", "UTC", true)).toEqual(other);
});
