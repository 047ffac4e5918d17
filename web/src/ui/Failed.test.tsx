import { screen } from "@testing-library/react";
import { expect, it } from "vitest";

import { Problem } from "../api/problem";
import { show } from "../test/stage";
import { Failed } from "./Failed";
import { t } from "../messages/ui";

it("leads on from what is not there, where to try again would bring nobody on", async () => {
  show(<Failed error={new Problem(404, "not_found", "There is no post of that id here.")} />);
  expect(await screen.findByText("There is no post of that id here.")).toBeTruthy();
  expect(screen.getByRole("link", { name: t("goToStartPage") }).getAttribute("href")).toBe("/");
  expect(screen.queryByRole("button", { name: t("tryAgain") })).toBeNull();
});

it("offers to try again what did not work this time", async () => {
  show(<Failed error={new Problem(503, "unavailable", "The database cannot do this now.")} />);
  expect(await screen.findByRole("button", { name: t("tryAgain") })).toBeTruthy();
  expect(screen.queryByRole("link", { name: t("goToStartPage") })).toBeNull();
});
