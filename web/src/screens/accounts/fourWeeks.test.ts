import { expect, it } from "vitest";

import { piled } from "../../ui/piled";
import { byDay, byHour } from "./fourWeeks";

const use = {
  since: "2026-09-30",
  days: [
    { day: "2026-10-01", sent: 2, refused: 1 },
    { day: "2026-10-02", sent: 5, refused: 0 },
  ],
  hours: [
    { weekday: 0, hour: 23, sent: 1 },
    { weekday: 1, hour: 0, sent: 4 },
  ],
};

it("gives every day its place, also those without a send", () => {
  const { places, marks, sent, refused, message } = byDay(use, "2026-10-03");
  expect(places).toEqual(["Wednesday 30 September 2026", "Thursday 1 October 2026", "Friday 2 October 2026", "Saturday 3 October 2026"]);
  expect([sent, refused]).toEqual([[0, 2, 5, 0], [0, 1, 0, 0]]);
  expect(marks).toEqual([{ at: 0, name: "30 Sep" }]);
  expect(message).toBe("7 posts sent and 1 rejected by day; the most on Friday 2 October 2026: 5");
});

it("lays the week out from Monday midnight to Sunday night", () => {
  const { places, sent, message } = byHour(use);
  expect(places).toHaveLength(168);
  expect([places[0], sent[0], places[167], sent[167]]).toEqual(["Monday 00:00", 4, "Sunday 23:00", 1]);
  expect(message).toBe("5 posts sent by hour of the week; busiest on Monday at 00:00");
});

it("piles kinds on one another", () => {
  expect(piled([[1, 2], [0, 3]])).toEqual([[1, 2], [1, 5]]);
});
