import { screen } from "@testing-library/react";
import { expect, it } from "vitest";

import { asked, serve } from "../../test/server";
import { show } from "../../test/stage";
import { Tray } from "./Tray";
import { t } from "../../messages/calendar";

const dated = Array.from({ length: 200 }, (_, at) => ({ id: `rule-${at}`, title: "", text: "Laid out", scheduled_at: "2026-11-01T08:00:00Z" }));
const undated = { id: "mine", title: "A look behind the organ", text: "", scheduled_at: null };
const page = (url: string) => new URL(url).searchParams.get("cursor");

it("finds a draft without a date behind a page of those that rules laid out", async () => {
  serve(({ url }) => (page(url) === null ? { items: dated, next: "second" } : { items: [undated], next: null }));
  show(<Tray mayEdit={false} onPlace={() => undefined} />);
  await screen.findByText("A look behind the organ");
  expect(screen.queryByText(t("everyDraftHasATime"))).toBeNull();
});

it("says that every draft has its time only when all were looked at", async () => {
  serve(() => ({ items: dated, next: null }));
  const { unmount } = show(<Tray mayEdit={false} onPlace={() => undefined} />);
  await screen.findByText(t("everyDraftHasATime"));
  unmount();
  serve(() => ({ items: dated, next: "more" }));
  show(<Tray mayEdit={false} onPlace={() => undefined} />);
  await screen.findByText(/Older ones are in Drafts/);
  expect(asked).toHaveLength(10);
});
