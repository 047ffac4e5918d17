import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it, vi } from "vitest";

import { show } from "../../test/stage";
import { Days } from "./Days";
import { movable, moveTo, nameOf, withMove, type Line, type QueueView } from "./order";
import { t } from "../../messages/queue";

const line = (id: string, at: string): Line => ({ at, wall_time: "", kind: "filled", mark: "none", post_id: id, text: id, ids: [id], channels: [], state: null, note: null, unfit: null });
const day = (name: string, ...lines: Line[]) => ({ day: name, posts: lines.length, max_per_day: null, blackout: false, lines });

const start = {
  revision: 1,
  zone: "UTC",
  days: [
    day("2026-10-21", line("Oboe", "2026-10-21T07:00:00Z"), line("Horn", "2026-10-21T15:00:00Z")),
    day("2026-10-22", line("Harp", "2026-10-22T07:00:00Z"), { ...line("Lute", "2026-10-22T11:00:00Z"), kind: "by_hand", state: "draft" }),
  ],
} as unknown as QueueView;

const publish = vi.fn();

function Moving() {
  const [view, setView] = useState(start);
  const nothing = () => undefined;
  const step = (id: string, by: -1 | 1) =>
    setView((now) => {
      const move = moveTo(now, id, movable(now).map(nameOf).indexOf(id) + by);
      return move === null ? now : withMove(now, move);
    });
  const acts = { step, toTop: nothing, swap: nothing, skip: nothing, unskip: nothing, remove: nothing, publish, compose: () => "/", edit: (id: string) => `/edit/${id}` };
  return <Days view={view} acts={acts} why={nothing} move={nothing} />;
}

const handle = (text: string) => screen.getByRole("button", { name: new RegExp(`^Move: ${text}`) });

it("keeps the focus on a post that moves by keys, within a day and to the next", async () => {
  show(<Moving />);
  handle("Oboe").focus();
  await userEvent.keyboard("{Alt>}{ArrowDown}{/Alt}");
  expect(handle("Oboe").getAttribute("aria-label")).toContain("15:00");
  expect(document.activeElement).toBe(handle("Oboe"));
  await userEvent.keyboard("{Alt>}{ArrowDown}{/Alt}");
  expect(handle("Oboe").closest("section")?.textContent).toContain("22 October");
  expect(document.activeElement).toBe(handle("Oboe"));
  await userEvent.keyboard("{Alt>}{ArrowUp}{/Alt}");
  expect(document.activeElement).toBe(handle("Oboe"));
});

it("gives the focus back to the menu of a post that was moved to another day by it", async () => {
  show(<Moving />);
  await userEvent.click(screen.getByRole("button", { name: /^More for Harp/ }));
  await userEvent.click(await screen.findByRole("menuitem", { name: t("moveUp") }));
  expect(screen.getByRole("button", { name: /^More for Harp/ }).closest("section")?.textContent).toContain("21 October");
  expect(document.activeElement).toBe(screen.getByRole("button", { name: /^More for Harp/ }));
});

it("leads from its first words, and from its menu, to the post", async () => {
  show(<Moving />);
  expect(screen.getByRole("link", { name: "Horn" }).getAttribute("href")).toBe("/edit/Horn");
  await userEvent.click(screen.getByRole("button", { name: /^More for Horn/ }));
  expect((await screen.findByRole("menuitem", { name: t("editPost") })).getAttribute("href")).toBe("/edit/Horn");
  await userEvent.click(await screen.findByRole("menuitem", { name: t("publishNowDots") }));
  expect(publish.mock.lastCall?.[0]).toMatchObject({ ids: ["Horn"] });
});

it("offers for a draft that stays where it is what can be done with it", async () => {
  show(<Moving />);
  await userEvent.click(screen.getByRole("button", { name: /^More for Lute/ }));
  const offered = (await screen.findAllByRole("menuitem")).map(({ textContent }) => textContent);
  expect(offered).toEqual(["Edit post", "Details", "Remove from queue…"]);
});
