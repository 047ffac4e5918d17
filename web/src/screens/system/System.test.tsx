import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";

import type { Schemas } from "../../api/client";
import { serve } from "../../test/server";
import { ada, freshQueries, show } from "../../test/stage";
import System from "./System";
import { t } from "../../messages/system";

const soon = new Date(Date.now() + 60_000).toISOString();
const before = new Date(Date.now() - 120_000).toISOString();
const house: Schemas["System"] = {
  version: "1.0",
  tz_version: "2026a",
  database_time: before,
  clock_skew_seconds: 0.01,
  delivery_lag_seconds: 0,
  notices_waiting: 0,
  hold: null,
  workers: [],
  leases: [],
  providers: [],
};

function look(more: Partial<Schemas["System"]> = {}) {
  serve(() => ({ ...house, ...more }));
  const queries = freshQueries();
  queries.setQueryData(["me"], { ...ada, instance_owner: true });
  show(<System />, { queries });
}

it("says in plain words whether clocks agree", async () => {
  look();
  const clock = await screen.findByRole("region", { name: t("serverClock") });
  expect(clock.textContent).toContain("In syncCompared with the database's clock");
});

it("asks to set a clock that is far off", async () => {
  look({ clock_skew_seconds: -8 });
  const clock = await screen.findByRole("region", { name: t("serverClock") });
  expect(clock.textContent).toContain("8.0 s behindCheck this: Set it");
});

it("shows what each worker has in hand, and what ran out in a dead one's", async () => {
  look({
    leases: [
      { worker: "oboe", kind: "deliveries", held: 3, lapsed: 0, ends_at: soon },
      { worker: "horn", kind: "jobs", held: 2, lapsed: 1, ends_at: before },
    ],
  });
  const hand = await screen.findByRole("region", { name: t("inProgress") });
  expect(within(hand).getByRole("row", { name: /^oboe 3 posts in 1 min$/ })).toBeTruthy();
  expect(within(hand).getByRole("row", { name: /^horn 2 jobs 2 min ago Check this: 1 stopped and is waiting for another worker$/ })).toBeTruthy();
});

it("says when nothing is in hand", async () => {
  look();
  await screen.findByText(t("nothingInProgressRightNow"));
});
