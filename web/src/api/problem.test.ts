import { expect, test } from "vitest";

import { Problem } from "./problem";

const refusal = (detail: string, ...paths: string[]): string =>
  Problem.read(422, { detail, errors: paths.map((path) => ({ path, message: "is too short", code: "short" })) }).message;

test("a single fault is named by its field, not by its place in the request", () => {
  expect(refusal("body.password: is too short", "body.password")).toBe("Password: is too short");
  expect(refusal("body.week_start: is too short", "body.week_start")).toBe("Week start: is too short");
  expect(refusal("body.slots.0.time: is too short", "body.slots.0.time")).toBe("Time: is too short");
  expect(refusal("body.tags.3: is too short", "body.tags.3")).toBe("Tags: is too short");
});

test("what the server says of several faults, or in its own words, stays", () => {
  expect(refusal("2 fields are wrong.", "body.name", "body.zone")).toBe("2 fields are wrong.");
  expect(refusal("Choose another day.", "body.at")).toBe("Choose another day.");
  expect(refusal("The account is paused.")).toBe("The account is paused.");
});
