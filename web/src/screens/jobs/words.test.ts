import { expect, test } from "vitest";

import { cronWords, policyWords, recurrenceWords, spanWords } from "./words";

test("spans are said in the largest whole unit", () => {
  expect([30, 60, 90, 900, 3600, 7200, 86_400, 172_800].map(spanWords)).toEqual([
    "30 s", "minute", "90 s", "15 min", "hour", "2 h", "day", "2 days",
  ]);
});

test("a recurrence is said as an interval or as its cron expression", () => {
  expect(recurrenceWords({ every: 900, zone: "UTC" })).toBe("every 15 min");
  expect(recurrenceWords({ cron: "0 3 * * *", zone: "Europe/Berlin" })).toBe("daily at 03:00 Europe/Berlin");
});

test("a cron expression is said in words where words say all of it", () => {
  expect(cronWords("* * * * *", "UTC")).toBe("every minute");
  expect(cronWords("*/15 * * * *", "UTC")).toBe("every 15 minutes");
  expect(cronWords("23 * * * *")).toBe("every hour, 23 past");
  expect(cronWords("5 9 * * 1", "Europe/Berlin")).toBe("Mondays at 09:05 Europe/Berlin");
});

test("an expression that says more is shown as it is", () => {
  for (const cron of ["*/7 * * * *", "0 9 1 * *", "0 9-17 * * *", "0 9 * * 1-5", "@daily", "0 0 9 * * *"]) expect(cronWords(cron)).toBe(cron);
  expect(cronWords("0 9 1 * *", "UTC")).toBe("0 9 1 * * (UTC)");
});

test("the policies of a schedule are said in words, unknown ones by name", () => {
  expect(policyWords({ missed: "once", overlap: "skip" })).toBe("missed runs are combined into one, never overlaps");
  expect(policyWords({ missed: "later", overlap: "skip" })).toContain("missed: later");
});
