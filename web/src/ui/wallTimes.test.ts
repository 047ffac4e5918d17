import { expect, it } from "vitest";

import { joinWall, readTime, UNFINISHED } from "./wallTimes";

it.each([
  ["09:15", "09:15"],
  ["9:15", "09:15"],
  ["0915", "09:15"],
  ["915", "09:15"],
  ["9", "09:00"],
  ["13.30", "13:30"],
  ["9:15 pm", "21:15"],
  ["12am", "00:00"],
  ["12 PM", "12:00"],
  ["00:00", "00:00"],
  [" 23:59 ", "23:59"],
])("reads %s as %s", (typed, time) => expect(readTime(typed)).toBe(time));

it.each(["", "24:00", "9:60", "13pm", "0 am", "nine", "9:1", "09:15:00", "-1"])("takes %s for no time", (typed) => expect(readTime(typed)).toBeNull());

it("joins a day and a time only when both are whole, and takes half of one for no answer", () => {
  expect(joinWall("2026-10-22", "9:15")).toBe("2026-10-22T09:15");
  expect(joinWall("", "9:15")).toBe(UNFINISHED);
  expect(joinWall("2026-10-22", "9:1")).toBe(UNFINISHED);
  expect(joinWall("2026-10-22", "")).toBe(UNFINISHED);
  expect(joinWall("2026-10-22", "", true)).toBe("");
  expect(joinWall("", "")).toBe("");
});
