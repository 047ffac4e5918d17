import { expect, test } from "vitest";

import { recurrenceWords, spanWords } from "./words";

test("spans are said in the largest whole unit", () => {
  expect([30, 60, 90, 900, 3600, 7200, 86_400, 172_800].map(spanWords)).toEqual([
    "30 s", "minute", "90 s", "15 min", "hour", "2 h", "day", "2 days",
  ]);
});

test("a recurrence is said as an interval or as its cron expression", () => {
  expect(recurrenceWords({ every: 900, zone: "UTC" })).toBe("every 15 min");
  expect(recurrenceWords({ cron: "0 3 * * *", zone: "Europe/Berlin" })).toBe("0 3 * * * (Europe/Berlin)");
});
