import { describe, expect, it } from "vitest";

import { movable, moveTo, nameOf, orderBefore, wayBack, withMove, withServersOrder, type Line, type QueueView } from "./order";

const line = (id: string | null, at: string, kind: Line["kind"] = "filled"): Line => ({
  at,
  wall_time: at.slice(0, 16),
  kind,
  mark: "none",
  post_id: id,
  text: id,
  ids: id === null ? [] : [id],
  channels: [],
  state: null,
  note: null, unfit: null,
});

const view = (...lines: Line[]): QueueView => ({
  dry_run: false,
  revision: 7,
  zone: "UTC",
  now_there: "",
  paused: false,
  pause_reason: null,
  paused_until: null,
  account_state: "connected",
  enabled: true,
  to_resume: 0,
  next_send: null,
  days: [{ day: "2026-10-21", posts: 0, max_per_day: null, blackout: false, lines }],
  next_day: "2026-10-22",
});

const three = view(line("a", "T1"), line(null, "T2", "empty"), line("b", "T3"), line("by-hand", "T4", "by_hand"), line("c", "T5"));
const held = (shown: QueueView) => movable(shown).map((each) => `${nameOf(each)}@${each.at}`);

describe("the order of a queue", () => {
  it("deals the same instants out to the posts again", () => {
    expect(held(withMove(three, { id: "c", before: "a" }))).toEqual(["c@T1", "a@T3", "b@T5"]);
    expect(held(withMove(three, { id: "a", after: "b" }))).toEqual(["b@T1", "a@T3", "c@T5"]);
  });

  it("leaves free slots and hand-timed posts where they are", () => {
    const lines = withMove(three, { id: "c", before: "a" }).days[0]?.lines ?? [];
    expect(lines.map(({ at, kind }) => `${kind}@${at}`)).toEqual(["filled@T1", "empty@T2", "filled@T3", "by_hand@T4", "filled@T5"]);
  });

  it("says a move by the neighbour, and nothing where nothing moves", () => {
    expect(moveTo(three, "c", 0)).toEqual({ id: "c", before: "a" });
    expect(moveTo(three, "a", 2)).toEqual({ id: "a", after: "c" });
    expect(moveTo(three, "a", 0)).toBeNull();
    expect(moveTo(three, "a", -1)).toBeNull();
    expect(moveTo(three, "by-hand", 0)).toBeNull();
  });

  it.each(["a", "b", "c"])("finds the way back of every move of %s", (id) => {
    for (const to of [0, 1, 2]) {
      const move = moveTo(three, id, to);
      if (move === null) continue;
      const back = wayBack(three, id);
      expect(back).not.toBeNull();
      expect(held(withMove(withMove(three, move), back ?? move))).toEqual(held(three));
    }
  });

  it("shows the server's order when somebody was quicker", () => {
    const told = withServersOrder(three, 9, [
      { id: "b", at: "T1" },
      { id: "unseen", at: "T2" },
      { id: "c", at: "T3" },
      { id: "a", at: "T5" },
    ]);
    expect(told.revision).toBe(9);
    expect(held(told)).toEqual(["b@T1", "c@T3", "a@T5"]);
  });

  it("changes nothing for a post that is not there", () => {
    expect(withMove(three, { id: "gone", before: "a" })).toBe(three);
  });
});

it("puts back what was mixed by the instants that it came from", () => {
  const moved = [
    { id: "b", was_at: "2026-10-22T07:00:00Z" },
    { id: "c", was_at: "2026-10-22T15:30:00+02:00" },
    { id: "a", was_at: "2026-10-21T15:30:00Z" },
  ];
  expect(orderBefore(moved)).toEqual(["a", "b", "c"]);
});
