import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";

import { serve, writes } from "../../test/server";
import { show } from "../../test/stage";
import { Missed } from "./Missed";
import { useQueueActs } from "./useQueue";
import { t } from "../../messages/queue";

function Shown() {
  return <Missed accountId="one" zone="UTC" acts={useQueueActs("one", "UTC")} />;
}

it("asks before what was missed is sent now", async () => {
  serve(({ method }) => (method === "GET" ? { items: [{ id: "a", due_at: "2026-10-21T07:00:00Z", content: { text: "Oboe" }, reason: null }], next: null } : { moved: [], drafts: [], full: [] }));
  show(<Shown />);
  await userEvent.click(await screen.findByRole("button", { name: t("sendNowSpacedOut") }));
  await userEvent.click(await screen.findByRole("button", { name: t("cancel") }));
  expect(await writes()).toEqual([]);
  await userEvent.click(screen.getByRole("button", { name: t("sendNowSpacedOut") }));
  const question = await screen.findByRole("dialog");
  await userEvent.click([...question.querySelectorAll("button")].find((each) => each.textContent === "Send now, spaced out") ?? question);
  await waitFor(async () => expect((await writes()).map(({ body }) => body)).toEqual([{ choice: "send" }]));
});
