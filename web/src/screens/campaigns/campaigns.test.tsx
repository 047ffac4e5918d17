import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { act } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { refuse, serve, writes } from "../../test/server";
import { HOME, account, show } from "../../test/stage";
import Campaigns from "./Campaigns";
import { cell, readReport } from "./report";
import type { Campaign } from "./useCampaign";
import { progressWords } from "./words";
import { t } from "../../messages/campaigns";

const nobody = { total: 0, planned: false, sent: 0, failed: 0, unconfirmed: 0, missed: 0, skipped: 0, canceled: 0, waiting: 0, percent: 0, per_minute: null, per_second: null, allowed_per_minute: null, finish_at: null, bound_by: null };

const campaign = (more: Partial<Campaign> = {}): Campaign =>
  ({
    id: "autumn",
    name: "Autumn",
    description: "kept",
    audience_id: "guests",
    template_id: "letter",
    account_ids: ["smtp"],
    channel: "email",
    params: { city: "Riga" },
    variants: [{ template_id: "letter" }, { template_id: "other" }],
    mode: "live",
    delivery_rate: 60,
    retry_limit: 5,
    skip_incomplete: false,
    max_error_percent: 10,
    start_at: null,
    not_after_at: null,
    state: "draft",
    status: "QUEUED",
    reason: null,
    progress: nobody,
    revision: 1,
    started_at: null,
    ended_at: null,
    ...more,
  }) as Campaign;

/** A server that keeps one campaign. */
function server(kept: Campaign, start: () => unknown = () => ({ campaign: kept, recipients: 120, accounts: ["smtp"], first_at: new Date().toISOString(), finish_at: null, bound_by: "delivery_rate", warnings: [] })) {
  serve(({ method, url }) => {
    const path = new URL(url).pathname.replace(`/api/v1/workspaces/${HOME}`, "");
    if (path === "") return { id: HOME, name: "Home", zone: "Europe/Berlin" };
    if (path === "/accounts") return [account("smtp")];
    if (path === "/audiences") return [{ id: "guests", name: "Guests", size: 120 }];
    if (path === "/templates") return { items: [{ id: "letter", name: "Letter" }], next: null };
    if (path.endsWith("/channels")) return [{ provider: "smtp", channel: "email" }];
    if (path.endsWith("/preview")) return { channel: "email", complete: true, subject: "Bread", text: "Hello", variables: [] };
    if (path.endsWith("/start")) return start();
    if (path.endsWith("/recipients")) return { items: [{ delivery_id: "d", recipient: "=cmd@example.org", contact_id: null, account_id: "smtp", state: "failed", reason: "no such mailbox", sent_at: null, failed_at: null, attempts: 4, url: null }], next: null };
    if (path.endsWith("/skipped")) return { items: [], next: null };
    if (method !== "GET" || path === "/campaigns/autumn") return kept;
    return refuse(404, "not_found", `Nobody answers ${path}.`);
  });
}

class Stream {
  static opened: Stream[] = [];
  onmessage: ((event: { data: string }) => void) | null = null;
  constructor(readonly url: string) {
    Stream.opened.push(this);
  }
  close() {
    Stream.opened = Stream.opened.filter((each) => each !== this);
  }
}

beforeEach(() => {
  Stream.opened = [];
  vi.stubGlobal("EventSource", Stream);
});
afterEach(() => vi.unstubAllGlobals());

it("follows its progress as the server tells it, until it ends", async () => {
  const running = campaign({ state: "running", progress: { ...nobody, total: 120, sent: 20, waiting: 100 } });
  server(running);
  show(<Campaigns />, { at: `/w/${HOME}/campaigns/autumn` });
  await screen.findByRole("img", { name: "20 of 120 sent, 100 waiting" });
  expect(Stream.opened.map(({ url }) => url)).toEqual([`/api/v1/workspaces/${HOME}/campaigns/autumn/progress`]);
  const ended = { ...running, state: "completed", ended_at: "2026-11-18T09:00:00Z", progress: { ...running.progress, sent: 120, waiting: 0 } };
  act(() => Stream.opened[0]?.onmessage?.({ data: JSON.stringify({ kind: "campaign.progress", data: ended }) }));
  await screen.findByRole("img", { name: "120 of 120 sent" });
  expect(Stream.opened).toEqual([]);
});

it("asks before it sends to anybody, and says to how many", async () => {
  server(campaign());
  show(<Campaigns />, { at: `/w/${HOME}/campaigns/autumn` });
  await userEvent.click(await screen.findByRole("button", { name: t("startCampaignDots") }));
  const sheet = await screen.findByRole("dialog", { name: "Start Autumn?" });
  expect(within(sheet).getByText(/120, all of Guests/)).toBeTruthy();
  expect((await writes()).filter(({ key }) => key !== null)).toEqual([]);
  await userEvent.click(within(sheet).getByRole("button", { name: "Send to 120 recipients" }));
  await waitFor(async () => expect((await writes()).filter(({ key }) => key !== null).map(({ path }) => path.split("/").pop())).toEqual(["start"]));
});

it("starts a test run as a test, with all that the form does not show", async () => {
  server(campaign());
  show(<Campaigns />, { at: `/w/${HOME}/campaigns/autumn` });
  await userEvent.click(await screen.findByRole("button", { name: t("startATestRun") }));
  await waitFor(async () => expect((await writes()).filter(({ key }) => key !== null)).toHaveLength(2));
  const [changed] = (await writes()).filter(({ key }) => key !== null);
  expect(changed?.body).toMatchObject({ mode: "test", description: "kept", params: { city: "Riga" }, retry_limit: 5, variants: [{ template_id: "other" }] });
});

it("says each thing that keeps it from starting, once, and cannot be started", async () => {
  const detail = "template_id: Show a link to unsubscribe. Show a link to unsubscribe. Set the postal address.";
  server(campaign(), () => refuse(422, "invalid_input", detail, { errors: [{ path: "template_id", message: detail.slice(13), code: "invalid" }] }));
  show(<Campaigns />, { at: `/w/${HOME}/campaigns/autumn` });
  const why = await screen.findByRole("alert");
  expect(within(why).getAllByRole("listitem").map((each) => each.textContent)).toEqual(["Show a link to unsubscribe.", "Set the postal address."]);
  expect(within(why).getByRole("link", { name: t("setThePostalAddress") })).toBeTruthy();
  expect(screen.getByRole("button", { name: t("startCampaignDots") })).toHaveProperty("disabled", true);
});

it("walks through the steps and saves a draft, which reaches nobody", async () => {
  server(campaign());
  show(<Campaigns />, { at: `/w/${HOME}/campaigns/new` });
  await userEvent.click(await screen.findByRole("button", { name: t("next") }));
  expect(await screen.findByText(t("enterAName"))).toBeTruthy();
  await userEvent.type(screen.getByRole("textbox", { name: t("name") }), "Autumn");
  await userEvent.click(screen.getByRole("combobox", { name: t("audience") }));
  await userEvent.click(await screen.findByRole("option", { name: "Guests (120 recipients)" }));
  await userEvent.click(screen.getByRole("button", { name: t("next") }));
  await userEvent.click(await screen.findByRole("combobox", { name: t("template") }));
  await userEvent.click(await screen.findByRole("option", { name: "Letter" }));
  expect(await screen.findByText("Bread")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: t("next") }));
  await userEvent.click(await screen.findByRole("checkbox", { name: /@smtp/ }));
  await userEvent.click(screen.getByRole("button", { name: t("checkAndReview") }));
  await screen.findByRole("button", { name: t("startCampaignDots") });
  const kept = (await writes()).filter(({ key }) => key !== null);
  expect(kept.map(({ path }) => path)).toEqual([`/api/v1/workspaces/${HOME}/campaigns`]);
  expect(kept[0]?.body).toMatchObject({ name: "Autumn", audience_id: "guests", template_id: "letter", account_ids: ["smtp"], delivery_rate: 60, mode: "live", start_at: null });
}, 30_000);

it("offers what its state allows, and asks before it cancels", async () => {
  server(campaign({ state: "paused", reason: "a wrong link", started_at: "2026-11-18T09:00:00Z", progress: { ...nobody, total: 120, sent: 20, failed: 2, waiting: 98, planned: true, percent: 18 } }));
  show(<Campaigns />, { at: `/w/${HOME}/campaigns/autumn` });
  await screen.findByRole("button", { name: t("resume") });
  expect(screen.getByText("A wrong link.")).toBeTruthy();
  expect(screen.queryByRole("button", { name: t("pauseDots") })).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: t("more") }));
  await userEvent.click(await screen.findByRole("menuitem", { name: t("cancelCampaignDots") }));
  await screen.findByText(/^98 people who are still waiting won't get it\./);
  expect(await writes()).toEqual([]);
  expect(await screen.findByText("=cmd@example.org")).toBeTruthy();
});

it("writes a report that no spreadsheet runs", async () => {
  server(campaign());
  const rows: number[] = [];
  const text = await (await readReport(HOME, campaign(), (now) => rows.push(now))).text();
  expect(text.split("\r\n")[1]).toBe("'=cmd@example.org,failed,no such mailbox,,4,");
  expect(rows).toEqual([1, 1]);
  expect(["+1 2", "-5", 'a "b"', "a,b", null].map(cell)).toEqual(["'+1 2", "-5", '"a ""b"""', '"a,b"', ""]);
});

it("says in one sentence what became of everybody", () => {
  expect(progressWords({ ...nobody, total: 1200, sent: 1000, failed: 3, waiting: 197 })).toBe("1,000 of 1,200 sent, 3 failed, 197 waiting");
});
