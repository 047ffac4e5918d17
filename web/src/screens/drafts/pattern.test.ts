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

test("what the form cannot show of a pattern is kept", () => {
  const shape = { kind: "monthly", days: [], weekdays: [{ nth: -1, weekday: 5 }], times: ["09:00"], step: 1 };
  expect(writePattern(readPattern(shape))).toEqual(shape);
});

test("own names are read line by line", () => {
  expect(readVariables("shop = The corner\n\nurl = https://example.org/?a=b\n")).toEqual({ shop: "The corner", url: "https://example.org/?a=b" });
});
