import { act, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";

import { refuse, serve, writes } from "../../test/server";
import { HOME, use } from "../../test/stage";
import { movable, nameOf, type Line, type QueueView } from "./order";
import { useOrder } from "./useOrder";
import { useQueueView } from "./useQueue";

const line = (id: string, day: number): Line => ({ at: `2026-10-${day}T07:00:00Z`, wall_time: "", kind: "filled", mark: "none", post_id: id, text: id, ids: [id], channels: [], state: null, note: null, unfit: null });

const view = (ids: string[], revision: number): QueueView => ({
  dry_run: false,
  revision,
  zone: "UTC",
  now_there: "",
  paused: false,
  pause_reason: null,
  paused_until: null,
  account_state: "connected",
  enabled: true,
  to_resume: 0,
  next_send: null,
  days: [{ day: "2026-10-21", posts: 0, max_per_day: null, blackout: false, lines: ids.map((id, at) => line(id, 21 + at)) }],
  next_day: "2026-10-22",
});

/** A queue as the server keeps it; `hold` makes the next move wait for `release`. */
function queue() {
  const kept = { ids: ["a", "b", "c"], revision: 7, hold: false, release: () => undefined as void };
  serve(async (request) => {
    if (request.method === "GET") return view(kept.ids, kept.revision);
    const { id, before, after, revision } = (await request.json()) as { id: string; before?: string; after?: string; revision: number };
    if (kept.hold) {
      kept.hold = false;
      await new Promise<void>((go) => (kept.release = go));
    }
    if (revision !== kept.revision)
      return refuse(409, "queue_changed", "Somebody was quicker.", { revision: kept.revision, order: kept.ids.map((each, at) => ({ id: each, at: line(each, 21 + at).at })) });
    const rest = kept.ids.filter((each) => each !== id);
    kept.ids = rest.toSpliced(rest.indexOf(before ?? after ?? "") + (before === undefined ? 1 : 0), 0, id);
    kept.revision += 1;
    return { moved: [{ id, post_id: id, was_at: line(id, 21).at, now_at: line(id, 21 + kept.ids.indexOf(id)).at }], stays: [], revision: kept.revision };
  });
  return kept;
}

const onScreen = (order: { view: QueueView | undefined }) => order.view && movable(order.view).map(nameOf).join("");

async function open() {
  const shown = use(() => useOrder("one", 14, useQueueView("one", 14).data));
  await waitFor(() => expect(onScreen(shown.now)).toBe("abc"));
  return shown;
}

it("makes two quick moves one after the other, and conflicts with nobody", async () => {
  const kept = queue();
  const shown = await open();
  act(() => {
    // Keys come quicker than the screen is drawn.
    shown.now.step("a", 1);
    shown.now.step("a", 1);
  });
  await waitFor(() => expect(onScreen(shown.now)).toBe("bca"));
  await waitFor(() => expect(shown.now.busy).toBe(false));
  expect(kept.ids.join("")).toBe("bca");
  expect(shown.now.conflict).toBeNull();
  expect((await writes()).map(({ body }) => (body as { revision: number }).revision)).toEqual([7, 8]);
});

it("keeps a move on the screen while an event reads the old order in between", async () => {
  const kept = queue();
  kept.hold = true;
  const shown = await open();
  act(() => shown.now.move({ id: "c", before: "a" }));
  await waitFor(() => expect(onScreen(shown.now)).toBe("cab"));
  await act(() => shown.queries.invalidateQueries({ queryKey: [HOME] }));
  expect(onScreen(shown.now)).toBe("cab");
  expect(kept.ids.join("")).toBe("abc");
  act(() => kept.release());
  await waitFor(() => expect(shown.now.busy).toBe(false));
  expect(onScreen(shown.now)).toBe("cab");
});

it("shows the order of who was quicker, and makes all refused moves when told to", async () => {
  const kept = queue();
  const shown = await open();
  kept.ids = ["c", "a", "b"];
  kept.revision = 12;
  act(() => shown.now.move({ id: "b", before: "a" }));
  act(() => shown.now.move({ id: "c", after: "a" }));
  await waitFor(() => expect(shown.now.conflict?.moves).toHaveLength(2));
  await waitFor(() => expect(onScreen(shown.now)).toBe("cab"));
  act(() => shown.now.again());
  await waitFor(() => expect(shown.now.busy).toBe(false));
  expect(shown.now.conflict).toBeNull();
  expect(kept.ids.join("")).toBe("bac");
});

it("takes a move back when the server refuses it, and says why", async () => {
  queue();
  const shown = await open();
  serve((request) => (request.method === "GET" ? view(["a", "b", "c"], 7) : refuse(409, "on_its_way", "It is on its way already.")));
  act(() => shown.now.move({ id: "c", before: "a" }));
  await waitFor(() => expect(onScreen(shown.now)).toBe("cab"));
  await screen.findByText("It is on its way already.");
  expect(onScreen(shown.now)).toBe("abc");
});
