import { expect, it } from "vitest";

import { land, toQuarter } from "./snap";
import type { Ghost } from "./useCalendar";

const ghost = (at: string, kind: Ghost["kind"] = "empty", account = "one"): Ghost => ({ account_id: account, at, wall_time: "", zone: "UTC", kind, mark: "none" });
const slots = [ghost("2026-10-24T09:00:00Z"), ghost("2026-10-24T17:00:00Z"), ghost("2026-10-24T12:00:00Z", "capped"), ghost("2026-10-24T14:00:00Z", "empty", "other")];
const at = (text: string) => new Date(text);
const how = { accountId: "one", zone: "UTC", byDay: false };

it("takes the nearest free slot of the same account within reach", () => {
  expect(land(at("2026-10-24T10:00:00Z"), slots, how)).toEqual({ at: at("2026-10-24T09:00:00Z"), slot: slots[0] });
});

it("stays where it was let go, timed by hand, when no slot is near, or only a full or foreign one", () => {
  const between = at("2026-10-24T13:00:00Z");
  expect(land(between, slots, how)).toEqual({ at: between, slot: null });
});

it("takes a slot of whichever account is near where none is named", () => {
  expect(land(at("2026-10-24T13:00:00Z"), slots, { ...how, accountId: null }).slot?.account_id).toBe("other");
});

it("goes back to its own slot when it is let go near it", () => {
  const own = { account_id: "one", at: "2026-10-24T12:30:00Z" };
  expect(land(at("2026-10-24T13:00:00Z"), slots, { ...how, own })).toEqual({ at: at(own.at), slot: own });
});

it("takes the nearest slot of the day where only days can be told apart", () => {
  expect(land(at("2026-10-24T13:30:00Z"), slots, { ...how, byDay: true }).at).toEqual(at("2026-10-24T17:00:00Z"));
  expect(land(at("2026-10-25T13:30:00Z"), slots, { ...how, byDay: true }).slot).toBeNull();
});

it("moves nothing by a pixel, and else by the nearest quarter of an hour from where it stood", () => {
  const stood = at("2026-10-24T09:07:00Z");
  const disconnect_account = (text: string) => toQuarter(at(text), stood).toISOString().slice(11, 16);
  expect(["09:02", "09:12", "09:14"].map((time) => disconnect_account(`2026-10-24T${time}:00Z`))).toEqual(["09:07", "09:07", "09:07"]);
  expect(["08:59", "09:17", "09:27"].map((time) => disconnect_account(`2026-10-24T${time}:00Z`))).toEqual(["08:52", "09:22", "09:22"]);
  expect(toQuarter(at("2026-10-24T09:05:00Z"), null)).toEqual(at("2026-10-24T09:00:00Z"));
  expect(toQuarter(at("2026-10-24T09:10:00Z"), null)).toEqual(at("2026-10-24T09:15:00Z"));
});
