import { expect, test } from "vitest";

import { asSentence, stopped } from "./words";

test("the server's words become one sentence with one full stop", () => {
  expect(asSentence("the line broke")).toBe("The line broke.");
  expect(asSentence("It is closed. Make a new one.")).toBe("It is closed. Make a new one.");
  expect(stopped("the token was revoked..")).toBe("the token was revoked.");
  expect(asSentence("why?")).toBe("Why?");
});
