import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";

import { asked, refuse, serve, tagged, writes } from "../../test/server";
import { account, show } from "../../test/stage";
import { Hours } from "./Hours";
import { t } from "../../messages/accounts";

const early = { start: "08:00:00", end: "12:00:00", days: [1] };
const shown = account("mastodon", { hours: { post: early } });
const channels = [{ provider: "mastodon", channel: "mastodon", needs_recipient: false }];

/** A server of one account. */
const server = (read: () => unknown, write: () => unknown) => serve(({ method, url }) => (url.endsWith("/channels") ? channels : method === "GET" ? read() : write()));

it("gives an action back to what is usual", async () => {
  server(() => tagged('"7"', shown), () => ({ ...shown, hours: {} }));
  show(<Hours account={shown} mayChange />);
  await userEvent.selectOptions(screen.getByLabelText(t("posts")), "usual");
  await userEvent.click(screen.getByRole("button", { name: t("saveHours") }));
  await screen.findByText(t("hoursSaved"));
  expect((await writes()).map(({ body }) => body)).toEqual([{ hours: {} }]);
  expect(asked.find(({ method }) => method === "PATCH")?.headers.get("if-match")).toBe('"7"');
});

it("saves nothing over another's hours before a person decides", async () => {
  const theirs = account("mastodon", { hours: { post: null } });
  server(() => tagged('"8"', theirs), () => theirs);
  show(<Hours account={shown} mayChange />);
  await userEvent.click(screen.getByRole("button", { name: t("saveHours") }));
  await screen.findByText(t("someoneElseChangedTheHoursWhile"));
  expect(await writes()).toEqual([]);
  await userEvent.click(screen.getByRole("button", { name: t("saveMine") }));
  await waitFor(async () => expect((await writes()).map(({ body }) => body)).toEqual([{ hours: { post: early } }]));
});

it("says so when the server refuses", async () => {
  server(() => tagged('"7"', shown), () => refuse(422, "bad_hours", "They end where they begin."));
  show(<Hours account={shown} mayChange />);
  await userEvent.click(screen.getByRole("button", { name: t("saveHours") }));
  await screen.findByText("They end where they begin.");
});

it("speaks only of what the network can do", async () => {
  server(() => tagged('"7"', shown), () => shown);
  show(<Hours account={shown} mayChange />);
  await waitFor(() => expect(screen.queryByLabelText("InMails")).toBeNull());
  expect(screen.getByLabelText(t("posts"))).toBeTruthy();
});
