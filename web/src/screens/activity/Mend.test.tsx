import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";

import type { Schemas } from "../../api/client";
import { serve, writes } from "../../test/server";
import { show } from "../../test/stage";
import { Mend } from "./Mend";
import { t } from "../../messages/activity";

it("asks before a delivery is published now", async () => {
  serve(() => ({ warning: null }));
  show(<Mend delivery={{ id: "one", state: "scheduled", channel: "mastodon", fence: 1 } as Schemas["Delivery"]} />);
  await userEvent.click(screen.getByRole("button", { name: t("publishNow") }));
  const question = await screen.findByRole("dialog", { name: t("publishNowQuestion") });
  expect(question.textContent).toContain("Mastodon");
  expect(await writes()).toEqual([]);
  await userEvent.click(within(question).getByRole("button", { name: t("publishNow") }));
  await waitFor(async () => expect((await writes()).map(({ path }) => path)).toEqual(["/api/v1/workspaces/home-of-ada/deliveries/one/publish-now"]));
});
