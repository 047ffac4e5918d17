import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";

import { refuse, serve, writes } from "../../test/server";
import { show } from "../../test/stage";
import Attention from "./Attention";
import type { Thing } from "./useThings";
import { t } from "../../messages/attention";

const thing = (id: string, more: Partial<Thing>): Thing =>
  ({ subject_id: id, message: "its time passed", at: "2026-10-21T07:00:00Z", post_id: `post-${id}`, pill: { account_id: "one", delivery_id: id, provider: "mastodon", zone: "UTC" }, fence: 1, words: id, ...more }) as Thing;

const missed = (id: string) => thing(id, { kind: "missed", reason: "missed", steps: ["publish_now", "next_slot"] });
const held = (id: string) => thing(id, { kind: "held", reason: "paused", steps: ["resume"] });

const house = (things: Thing[]) =>
  serve(({ method, url }) => {
    if (url.includes("/queue/resume")) return { choice: "send", held: ["d1"], moved: [], taken_back: [] };
    if (method !== "GET") return { answers: things.map(({ subject_id }) => ({ subject_id, outcome: "done", message: null })) };
    return url.endsWith("/attention") ? things : refuse(404, "no_queue", "It has no weekly schedule.");
  });

it("asks before something goes out at once, one or many", async () => {
  house([missed("Oboe"), missed("Horn")]);
  show(<Attention />);
  await userEvent.click(await screen.findByRole("button", { name: "Publish now: all 2" }));
  const question = await screen.findByRole("dialog", { name: "Publish now: 2 posts?" });
  expect(await writes()).toEqual([]);
  await userEvent.click(within(question).getByRole("button", { name: t("publishNow") }));
  await waitFor(async () => expect((await writes()).map(({ body }) => (body as { step: string }).step)).toEqual(["publish_now"]));
});

it("resumes a queue by its own dialog, and chooses nothing by itself", async () => {
  house([held("Oboe")]);
  show(<Attention />);
  await userEvent.click(await screen.findByRole("button", { name: /^Resume queue/ }));
  await screen.findByText(/1 post was due/);
  expect((await writes()).map(({ path }) => path)).toEqual(["/api/v1/workspaces/home-of-ada/accounts/one/queue/resume"]); // the preview
});

it("says of what is still ahead when it is due, and of the rest when it happened", async () => {
  const ahead = new Date(Date.now() + 3 * 3_600_000).toISOString();
  house([thing("Horn", { kind: "blocked", reason: "needs_copy", steps: ["write"], at: ahead, pill: null }), missed("Oboe")]);
  show(<Attention />);
  expect(await screen.findByText(/^Due .*\(in 3 h\)$/)).toBeTruthy();
  expect(screen.getAllByText(/Due/)).toHaveLength(1);
});

it("folds placeholders that look the same into one line, and shows them all on request", async () => {
  const placeholder = (id: string, more: Partial<Thing> = {}) => thing(id, { kind: "blocked", reason: "needs_copy", steps: ["write", "delete"], pill: null, words: "", ...more });
  house([placeholder("one"), placeholder("two"), placeholder("three"), placeholder("four", { words: "Monday" })]);
  show(<Attention />);
  expect(await screen.findByText("Needs changes (4)")).toBeTruthy();
  expect(screen.getAllByText(t("itHasNoTextYet"))).toHaveLength(2);
  await userEvent.click(screen.getByRole("button", { name: /^Show 2 more like this/ }));
  expect(screen.getAllByText(t("itHasNoTextYet"))).toHaveLength(4);
});
