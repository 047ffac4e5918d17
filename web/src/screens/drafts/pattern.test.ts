import { expect, test } from "vitest";

import { readVariables } from "./CategoryEditor";
import { newPattern, patternWords, readPattern, writePattern } from "./pattern";

test("a pattern is told in words, the week from Monday", () => {
  expect(patternWords({ ...newPattern, weekdays: ["0", "4", "1"], times: ["09:00", "17:30"] })).toBe(
    "Mondays, Thursdays and Sundays at 09:00 and 17:30",
  );
  expect(patternWords({ ...newPattern, kind: "daily", step: 2 })).toBe("Every 2 days at 09:00");
  expect(patternWords({ ...newPattern, kind: "monthly", days: ["1", "-1"] })).toBe("Every month on day 1 and the last day at 09:00");
  expect(patternWords({ ...newPattern, kind: "interval", hours: 36 })).toBe("Every 36 hours");
});

test.each([
  { kind: "monthly", days: [31], weekdays: [{ nth: -1, weekday: 5 }], times: ["09:00"], step: 2, short_month: "skip" },
  { kind: "weekly", weekdays: [0, 3], times: ["09:00", "17:30"], step: 2 },
  { kind: "daily", times: ["09:00"], step: 3 },
  { kind: "interval", hours: 36 },
])("a pattern of kind $kind comes back from the form as it went in", (shape) => {
  expect(writePattern(readPattern(shape))).toEqual(shape);
});

test("weekdays of the month are told by their number", () => {
  const nth = [
    { nth: "2", weekday: "2" },
    { nth: "-1", weekday: "5" },
  ];
  expect(patternWords({ ...newPattern, kind: "monthly", days: [], nth })).toBe("Every month on the second Tuesday and the last Friday at 09:00");
});

test("own names are read line by line", () => {
  expect(readVariables("shop = The corner\n\nurl = https://example.org/?a=b\n")).toEqual({ shop: "The corner", url: "https://example.org/?a=b" });
});
