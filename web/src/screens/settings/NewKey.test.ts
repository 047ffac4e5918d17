import { expect, it } from "vitest";

import { endOf } from "./NewKey";

it("reads the end of a key in the zone in which it is shown", () => {
  expect(endOf("2026-11-16 09:00:00", "Pacific/Auckland")).toBe("2026-11-15T20:00:00.000Z");
  expect(endOf("2026-11-16 09:00:00", "America/New_York")).toBe("2026-11-16T14:00:00.000Z");
});
