import { expect, test } from "vitest";

import { safeNext } from "./SignIn";
import { tokenOf } from "./token";

test("a token is read off the part of the address that stays in the browser", () => {
  expect(tokenOf({ hash: "#token=abc-_1", search: "" })).toBe("abc-_1");
  expect(tokenOf({ hash: "", search: "?token=old" })).toBe("old");
  expect(tokenOf({ hash: "#else", search: "" })).toBe("");
});

test("nobody is led out of the house after signing in", () => {
  expect(safeNext("/w/1/queue")).toBe("/w/1/queue");
  for (const bad of [null, "https://evil.example", "//evil.example", "/\\evil.example", "evil"]) expect(safeNext(bad)).toBe("/");
});
