import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { it } from "vitest";

import { serve } from "../../test/server";
import { show } from "../../test/stage";
import { Rules } from "./Rules";
import { t } from "../../messages/drafts";

const rule = { id: "one", name: "Mondays", state: "active", pattern: { kind: "weekly", weekdays: [1], times: ["09:00"], step: 1 }, zone: "UTC", category_id: "c", targets: [], ends: null };

it("says that a rule cannot be deleted without a line, instead of nothing", async () => {
  serve(({ method, url }) => {
    if (method !== "GET") throw new TypeError("the line broke");
    return url.endsWith("/rules") ? [rule] : url.includes("/categories") ? [{ id: "c", name: "News" }] : url.endsWith("/accounts") ? [] : { active: true, zone: "UTC" };
  });
  show(<Rules />);
  await userEvent.click(await screen.findByRole("button", { name: "More for Mondays" }));
  await userEvent.click(await screen.findByRole("menuitem", { name: t("deleteDots") }));
  await screen.findByText("Can't reach the server.");
});
