import { screen } from "@testing-library/react";
import { expect, it } from "vitest";

import { refuse, serve } from "../../test/server";
import { show } from "../../test/stage";
import Calendar from "./Calendar";

it("leads to connecting an account where there is none", async () => {
  serve(({ url }) => (url.endsWith("/accounts") ? [] : { zone: "Europe/Berlin" }));
  show(<Calendar />);
  await screen.findByText(/See what your accounts send and when/);
  expect(document.querySelector(".calendar")).toBeNull();
});

it("says why it shows nothing when its accounts cannot be read", async () => {
  serve(({ url }) => (url.endsWith("/accounts") ? refuse(503, "down", "The database is away.") : { zone: "Europe/Berlin" }));
  show(<Calendar />);
  await screen.findByText("The database is away.");
});
