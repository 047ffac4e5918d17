import { expect, test } from "vitest";

import { safeNext } from "./SignIn";
import { tokenIn, tokenOf } from "./token";

test("a token is read off the part of the address that stays in the browser", () => {
  expect(tokenOf({ hash: "#token=abc-_1", search: "" })).toBe("abc-_1");
  expect(tokenOf({ hash: "", search: "?token=old" })).toBe("old");
  expect(tokenOf({ hash: "#else", search: "" })).toBe("");
});

test("whoever takes the whole link for the token means its token", () => {
  expect(tokenIn(" http://127.0.0.1:8400/first-start#token=abc-_1 ")).toBe("abc-_1");
  expect(tokenIn(" abc-_1\n")).toBe("abc-_1");
  expect(tokenIn("http://127.0.0.1:8400/")).toBe("http://127.0.0.1:8400/");
});

test("nobody is led out of the installation after signing in", () => {
  expect(safeNext("/w/1/queue")).toBe("/w/1/queue");
  for (const bad of [null, "https://evil.example", "//evil.example", "/\\evil.example", "evil"]) expect(safeNext(bad)).toBe("/");
});
