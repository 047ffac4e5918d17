import { expect, it } from "vitest";

import { addTime, countSlots, dropTime, readWeek, writeWeek } from "./week";

const told = { "1": [{ hour: 9, minute: 0 }, { hour: 17, minute: 30, gap: "skip", fold: "first" }] };

it("reads a week and writes it back with what its slots do when clocks change", () => {
  const week = readWeek(told);
  expect(week["1"]?.map(({ time }) => time)).toEqual(["09:00", "17:30"]);
  expect(writeWeek(week)).toEqual(told);
});

it("adds a time once a day, in order, and drops it again", () => {
  const week = addTime(readWeek(told), "12:15", ["1", "3"]);
  expect(week["1"]?.map(({ time }) => time)).toEqual(["09:00", "12:15", "17:30"]);
  expect(countSlots(addTime(week, "12:15", ["1", "3"]))).toBe(countSlots(week));
  expect(writeWeek(dropTime(week, "3", "12:15"))).not.toHaveProperty("3");
});
