import { afterEach, expect, it, vi } from "vitest";

import { refuse, serve, writes } from "../test/server";
import { api, take, takeTagged } from "./client";
import { onSessionEnd } from "./session";

const PAUSE = "/api/v1/workspaces/{workspace_id}/accounts/{account_id}/queue/pause";
const params = { path: { workspace_id: "home", account_id: "one" } };
const pause = (reason = "news") => take(api.POST(PAUSE, { params, body: { reason, until: null } }));
const broken = () => {
  throw new TypeError("the line broke");
};
const keys = async () => (await writes()).map(({ key }) => key);

afterEach(() => vi.restoreAllMocks());

it("sends a write whose answer was lost with the same key again, and any other with its own", async () => {
  let answers: () => unknown = broken;
  serve(() => answers());
  await expect(pause()).rejects.toThrow("may or may not have worked. Try again: it won't be done twice.");
  answers = () => ({});
  await pause();
  await pause();
  const [first, again, later] = await keys();
  expect(first).not.toBeNull();
  expect(again).toBe(first);
  expect(later).not.toBe(first);
});

it("gives two equal writes at once one key, and other words another", async () => {
  serve(() => ({}));
  await Promise.all([pause("at once"), pause("at once"), pause("other words")]);
  const [first, second, other] = await keys();
  expect(second).toBe(first);
  expect(other).not.toBe(first);
});

it.each([
  ["a gateway spoke instead of the server", () => new Response("Bad gateway", { status: 502 })],
  ["the first one is still under way", () => refuse(409, "under_way", "The first request of this key is still under way.")],
  ["the answer broke off", () => new Response(new ReadableStream({ start: (line) => line.error(new TypeError("cut")) }), { status: 200 })],
])("keeps the key when %s", async (_, vague) => {
  let answers: () => unknown = vague;
  serve(() => answers());
  await expect(pause("gateway")).rejects.toThrow();
  answers = () => ({});
  await pause("gateway");
  const [first, again] = await keys();
  expect(again).toBe(first);
});

it("takes nothing for a repetition after another write was answered", async () => {
  let answers: () => unknown = broken;
  serve(() => answers());
  await expect(pause("a")).rejects.toThrow();
  answers = () => ({});
  await pause("b");
  await pause("a");
  const [first, , later] = await keys();
  expect(later).not.toBe(first);
});

it("gives dry runs and reads no key, and lets them settle nothing", async () => {
  let answers: () => unknown = broken;
  serve(() => answers());
  await expect(pause()).rejects.toThrow();
  answers = () => ({});
  await take(api.POST(PAUSE, { params: { ...params, query: { dry_run: true } }, body: { reason: "news", until: null } }));
  await pause();
  const [first, dryRun, again] = await keys();
  expect(dryRun).toBeNull();
  expect(again).toBe(first);
});

it("says that nothing was changed only where nothing can have left", async () => {
  serve(broken);
  vi.spyOn(navigator, "onLine", "get").mockReturnValue(false);
  await expect(pause("offline")).rejects.toThrow("Can't reach the server. Nothing was changed.");
  await expect(take(api.GET("/api/v1/me"))).rejects.toThrow(/^Can't reach the server\.$/);
});

it("hands the name of a state over with its answer", async () => {
  serve(() => new Response("{}", { headers: { etag: '"7"', "content-type": "application/json" } }));
  expect((await takeTagged(api.GET("/api/v1/me"))).etag).toBe('"7"');
});

it("tells once that the session is over, and not for another refusal", async () => {
  const told = vi.fn();
  onSessionEnd(told);
  serve(() => refuse(401, "wrong", "That is not the password."));
  await expect(take(api.GET("/api/v1/me"))).rejects.toThrow();
  expect(told).not.toHaveBeenCalled();
  serve(() => refuse(401, "not_signed_in", "Sign in first."));
  await Promise.allSettled([take(api.GET("/api/v1/me")), take(api.GET("/api/v1/me"))]);
  expect(told).toHaveBeenCalledOnce();
});
