import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";

import { serve } from "../../test/server";
import { show } from "../../test/stage";
import { Missed } from "./Missed";
import type { Line, QueueView } from "./order";
import { Moves } from "./ResumeDialog";
import { SwapDialog } from "./SwapDialog";
import { t } from "../../messages/queue";

const zone = "America/New_York";
const nothing = () => undefined;

const line = (id: string, at: string, text: string) => ({ id, ids: [id], at, text, kind: "filled", state: "scheduled", pinned: false, mark: "none" }) as unknown as Line;

it("names the zone of both columns where posts move", () => {
  show(<Moves moves={[{ id: "a", post_id: null, was_at: "2026-11-16T14:00:00Z", now_at: "2026-11-16T15:30:00Z" }]} zone={zone} words={new Map([["a", "Oboe"]])} />);
  screen.getByRole("columnheader", { name: "Current time (New York)" });
  screen.getByRole("columnheader", { name: "New time (New York)" });
  screen.getByText("Mon 16 Nov, 09:00");
  screen.getByText("10:30");
});

it("names the zone wherever two posts are swapped", async () => {
  const [first, second] = [line("a", "2026-11-16T14:00:00Z", "Oboe"), line("b", "2026-11-17T14:00:00Z", "Flute")];
  const view = { zone, days: [{ lines: [first, second] }] } as unknown as QueueView;
  show(<SwapDialog line={first} view={view} busy={false} onSwap={nothing} onClose={nothing} />);
  await screen.findByText("“Oboe”, Mon 16 Nov, 09:00 New York");
  await userEvent.click(screen.getByRole("combobox", { name: t("swapWith") }));
  await userEvent.click(await screen.findByRole("option", { name: "Tue 17 Nov, 09:00 New York: Flute" }));
  const effect = (await screen.findByRole("status")).textContent;
  expect(effect).toContain("Tue 17 Nov, 09:00 New York");
  expect(effect).toContain("Mon 16 Nov, 09:00 New York");
});

it("names the zone of posts that were missed", async () => {
  serve(() => ({ items: [{ id: "a", due_at: "2026-11-16T14:00:00Z", content: { text: "Oboe" }, reason: null }], next: null }));
  show(<Missed accountId="one" zone={zone} acts={null} />);
  await screen.findByText("Mon 16 Nov, 09:00 New York: Oboe");
});
