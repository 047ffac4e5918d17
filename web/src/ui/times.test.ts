import { describe, expect, it } from "vitest";

import { localInstant } from "./localInstant";
import { addDays, ago, clock, clockChange, dayWords, fromNow, localDay, moment, onClock, wallTime } from "./times";

describe("times", () => {
  it("are said in the zone that is named", () => {
    expect(moment("2026-10-21T15:30:00Z", "Europe/Berlin")).toBe("Wed 21 Oct, 17:30");
    expect(clock("2026-10-21T15:30:00Z", "America/New_York")).toBe("11:30");
    expect(localDay("2026-10-21T22:30:00Z", "Europe/Berlin")).toBe("2026-10-22");
  });

  it.each([
    ["2026-10-25", "Europe/Berlin", -60],
    ["2026-03-29", "Europe/Berlin", 60],
    ["2026-11-01", "America/New_York", -60],
    ["2026-04-05", "Australia/Lord_Howe", -30],
    ["2026-10-25", "Asia/Kolkata", 0],
    ["2026-10-24", "Europe/Berlin", 0],
    ["2026-10-26", "Europe/Berlin", 0],
    ["2026-09-27", "Pacific/Auckland", 60],
    ["2026-09-26", "Pacific/Auckland", 0],
  ])("know that on %s in %s clocks move by %i minutes", (day, zone, minutes) => {
    expect(clockChange(day, zone)).toBe(minutes);
  });

  it.each([
    // Far from any change, and beside one.
    ["Europe/Berlin", "2026-10-22T12:15", "2026-10-22T10:15"],
    ["Europe/Berlin", "2026-10-25T09:00", "2026-10-25T08:00"],
    ["Europe/Berlin", "2026-10-25T01:59", "2026-10-24T23:59"],
    ["Europe/Berlin", "2026-10-25T03:00", "2026-10-25T02:00"],
    ["Europe/Berlin", "2026-03-29T01:30", "2026-03-29T00:30"],
    ["Europe/Berlin", "2026-03-29T03:30", "2026-03-29T01:30"],
    ["America/New_York", "2026-03-08T01:59", "2026-03-08T06:59"],
    ["America/New_York", "2026-03-08T03:00", "2026-03-08T07:00"],
    ["America/New_York", "2026-11-01T02:00", "2026-11-01T07:00"],
    ["Pacific/Auckland", "2026-04-05T03:00", "2026-04-04T15:00"],
    ["Australia/Lord_Howe", "2026-04-05T02:00", "2026-04-04T15:30"],
    ["Asia/Kolkata", "2026-03-29T02:30", "2026-03-28T21:00"],
    // Inside a gap: as much later as the clocks leap.
    ["Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:30"],
    ["America/New_York", "2026-03-08T02:30", "2026-03-08T07:30"],
    ["Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:45"],
    ["Pacific/Auckland", "2026-09-27T02:30", "2026-09-26T14:30"],
    // Inside a fold: the first of the two.
    ["Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30"],
    ["America/New_York", "2026-11-01T01:30", "2026-11-01T05:30"],
    ["Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-04T14:45"],
    ["Pacific/Auckland", "2026-04-05T02:30", "2026-04-04T13:30"],
  ])("know which instant is meant in %s by %s", (zone, wall, instant) => {
    expect(localInstant(wall, zone).toISOString()).toBe(`${instant}:00.000Z`);
  });

  it.each([
    ["Europe/Berlin", "2026-10-25T00:30:00Z", "02:30 (1st)"],
    ["Europe/Berlin", "2026-10-25T01:30:00Z", "02:30 (2nd)"],
    ["Europe/Berlin", "2026-10-24T23:59:00Z", "01:59"],
    ["Europe/Berlin", "2026-10-25T02:00:00Z", "03:00"],
    ["Europe/Berlin", "2026-10-25T12:30:00Z", "13:30"],
    ["Europe/Berlin", "2026-03-29T01:30:00Z", "03:30"],
    ["America/New_York", "2026-11-01T05:00:00Z", "01:00 (1st)"],
    ["America/New_York", "2026-11-01T06:59:00Z", "01:59 (2nd)"],
    ["Australia/Lord_Howe", "2026-04-04T14:45:00Z", "01:45 (1st)"],
    ["Australia/Lord_Howe", "2026-04-04T15:15:00Z", "01:45 (2nd)"],
    ["Australia/Lord_Howe", "2026-04-04T14:15:00Z", "01:15"],
    ["Asia/Kolkata", "2026-10-25T00:30:00Z", "06:00"],
  ])("tell in %s the two hours apart that clocks repeat: %s is %s", (zone, instant, said) => {
    expect(clock(instant, zone)).toBe(said);
    expect(wallTime(instant, zone)).toBe(`${localDay(instant, zone)}T${said.slice(0, 5)}`);
  });

  it("say the server's instants on the clock that is named", () => {
    expect(onClock("it was sent at 2026-10-21 15:30:12 UTC", "Europe/Berlin")).toBe("it was sent Wed 21 Oct, 17:30 Berlin");
    expect(onClock("hours: closed, not before 2026-10-25 01:30 UTC; an editor can change it", "Europe/Berlin")).toBe(
      "hours: closed, not before Sun 25 Oct, 02:30 (2nd) Berlin; an editor can change it",
    );
    expect(onClock("nothing stands in its way", "Europe/Berlin")).toBe("nothing stands in its way");
  });

  it("count days over months and say today and tomorrow", () => {
    expect(addDays("2026-10-31", 1)).toBe("2026-11-01");
    expect(dayWords("2026-11-01", "2026-10-31")).toBe("Tomorrow, Sunday 1 November 2026");
  });

  it("say how far off something is", () => {
    const now = new Date("2026-10-21T07:00:00Z");
    expect(fromNow("2026-10-21T07:05:00Z", now)).toBe("in 5 min");
    expect(fromNow("2026-10-21T04:00:00Z", now)).toBe("3 h ago");
    expect(fromNow("2026-10-24T07:00:00Z", now)).toBe("in 3 days");
  });
});

it("what happened is never told as still to come, whatever the two clocks say", () => {
  const now = new Date("2026-11-16T09:00:00Z");
  expect(ago("2026-11-16T09:00:20Z", now)).toBe("just now");
  expect(ago("2026-11-16T09:10:00Z", now)).toBe("just now");
  expect(ago("2026-11-16T06:00:00Z", now)).toBe("3 h ago");
});
