import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

import { allScopes } from "./scopes";
import { secretOf } from "./SecondFactor";
import { browserOf } from "./Sessions";

describe("what a key may be given", () => {
  test("is what the server knows", () => {
    const { paths } = JSON.parse(readFileSync("openapi.json", "utf8")) as { paths: Record<string, Record<string, Record<string, string>>> };
    const routes = Object.values(paths).flatMap((path) => Object.values(path));
    // What is for owners of the installation is given by the command line.
    const known = routes.filter((route) => route["x-scope"] !== undefined && route["x-needs"] !== "instance").map((route) => route["x-scope"]);
    expect(new Set(allScopes)).toEqual(new Set(known));
  });
});

test("a secret is shown in groups of four", () => {
  expect(secretOf("otpauth://totp/Cadenza:ada?secret=ABCDEFGHIJ&issuer=Cadenza")).toBe("ABCD EFGH IJ");
});

test("a session is named by browser and system", () => {
  expect(browserOf("Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0")).toBe("Firefox on Linux");
  expect(browserOf("Mozilla/5.0 (Windows NT 10.0) Chrome/120 Safari/537.36 Edg/120")).toBe("Edge on Windows");
  expect(browserOf("httpx2")).toBe("Unknown browser");
});
