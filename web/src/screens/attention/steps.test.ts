import { expect, test } from "vitest";

import document from "../../../openapi.json";
import { kinds, reasons, steps, wordOf } from "./steps";

const { AttentionReason, Step, AttentionKind } = document.components.schemas;

test("every reason, step and kind of the server has its own words here, and none is left over", () => {
  expect(Object.keys(reasons).sort()).toEqual([...AttentionReason.enum].sort());
  expect(Object.keys(steps).sort()).toEqual([...Step.enum].sort());
  expect(Object.keys(kinds).sort()).toEqual([...AttentionKind.enum].sort());
});

test("the button's word comes from the reason: what needs its text is not given a picture", () => {
  expect(wordOf({ reason: "needs_copy", steps: ["write", "delete"] }, "write")).toBe("Write the text");
  expect(wordOf({ reason: "needs_media", steps: ["add_media", "edit"] }, "add_media")).toBe("Add an image");
  expect(wordOf({ reason: "connection_ends", steps: ["reconnect"] }, "reconnect")).toBe("Renew access");
  expect(wordOf({ reason: "refused", steps: ["edit", "retry"] }, "retry")).toBe("Try again");
});
