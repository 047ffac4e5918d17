import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";

import { refuse, serve, writes } from "../../test/server";
import { show } from "../../test/stage";
import { ResumeAccount } from "./ResumeAccount";
import { t } from "../../messages/queue";

const nothing = () => undefined;

it("does not say that there is no queue before it is known", async () => {
  serve(() => new Promise(nothing));
  show(<ResumeAccount accountId="one" onClose={nothing} />);
  await screen.findByRole("status", { name: "Loading" });
  expect(screen.queryByText(/has no queue/)).toBeNull();
});

it("says why the queue cannot be read", async () => {
  serve(() => refuse(503, "unavailable", "The database cannot do this now."));
  show(<ResumeAccount accountId="one" onClose={nothing} />);
  await screen.findByText("The database cannot do this now.");
  expect(screen.queryByText(/has no queue/)).toBeNull();
});

const came = { dry_run: true, choice: "send", held: ["d1"], by_hand: [], moved: [], taken_back: [], revision: 1, was_paused: false };

it("offers an account without weekly slots to send or to take back what came due", async () => {
  serve(({ method }) => (method === "GET" ? refuse(404, "no_queue", "It has no weekly schedule.") : came));
  show(<ResumeAccount accountId="one" onClose={nothing} />);
  await screen.findByText(t("dueWhileDisconnected"));
  expect(screen.queryByRole("radio", { name: /Move to the next free slots/ })).toBeNull();
  await screen.findByText(/1 post was due/);
  await userEvent.click(screen.getByRole("button", { name: t("resume") }));
  await screen.findByText(t("resumed"));
  expect((await writes()).at(-1)?.path).toBe("/api/v1/workspaces/home-of-ada/accounts/one/queue/resume");
});
