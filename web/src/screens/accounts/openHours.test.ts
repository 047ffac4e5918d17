import { describe, expect, it } from "vitest";

import type { Account } from "../../api/accounts";
import { covers, inForce, usualWords, wayOf, withWay } from "./openHours";

const monday = 1;
const tuesday = 2;

describe("the grid of hours", () => {
  it("fills an hour that has an open minute", () => {
    const hours = { start: "08:30", end: "17:15", days: [monday] };
    expect([7, 8, 16, 17, 18].map((hour) => covers(hours, monday, hour))).toEqual([false, true, true, true, false]);
    expect(covers(hours, tuesday, 9)).toBe(false);
  });

  it("lets hours over midnight belong to the day that they begin on", () => {
    const hours = { start: "22:00", end: "02:00", days: [monday] };
    expect(covers(hours, monday, 23)).toBe(true);
    expect(covers(hours, tuesday, 1)).toBe(true);
    expect(covers(hours, tuesday, 2)).toBe(false);
    expect(covers(hours, monday, 1)).toBe(false);
  });

  it("is open for a whole day where hours end as they begin", () => {
    const hours = { start: "09:00", end: "09:00", days: [monday] };
    expect(covers(hours, monday, 9) && covers(hours, tuesday, 8)).toBe(true);
    expect(covers(hours, monday, 8) || covers(hours, tuesday, 9)).toBe(false);
  });
});

it("tells the usual, always and an action's own hours apart, and goes from each to each", () => {
  const own = withWay({}, "email", "own");
  expect(wayOf(own, "email")).toBe("own");
  expect(withWay(own, "email", "always")).toEqual({ email: null });
  expect(wayOf({ email: null }, "email")).toBe("always");
  expect(withWay(own, "email", "usual")).toEqual({});
  expect(wayOf({}, "email")).toBe("usual");
  expect(withWay({ email: null, post: null }, "email", "usual")).toEqual({ post: null });
});

it("says what the server tells to be usual", () => {
  const told = { usual_hours: { post: null, email: { start: "09:00:00", end: "18:00:00", days: [1, 2, 3, 4, 5] }, inmail: { start: "10:30:00", end: "12:00:00", days: [2, 0] } } } as unknown as Account;
  expect(usualWords(told, "post")).toBe("any time");
  expect(usualWords(told, "email")).toBe("Mon to Fri, 09:00 to 18:00");
  expect(usualWords(told, "inmail")).toBe("Tue, Sun, 10:30 to 12:00");
  expect(inForce({}, "post", told)).toBeNull();
  expect(inForce({}, "email", told)?.start).toBe("09:00:00");
  expect(inForce({ email: null }, "email", told)).toBeNull();
});
