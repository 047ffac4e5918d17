import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";

import { serve, writes } from "../../test/server";
import { account, HOME, show } from "../../test/stage";
import Compose from "./Compose";
import { empty } from "./content";
import { readKept } from "./keepLocally";

it("puts kept text where the chosen slot is, not where it was meant to go before", async () => {
  const kept = { content: { ...empty, text: "Oboe", places: [{ account_id: "mastodon" }] }, revision: null, at: "2026-10-21T07:00:00Z" };
  localStorage.setItem(`cadenza.composer.${HOME}.new`, JSON.stringify(kept));
  serve(({ method, url }) => (method === "GET" && url.endsWith("/accounts") ? [account("mastodon"), account("bluesky")] : url.includes("/compose") ? { post: { approved: true, blockers: [] }, places: [] } : []));
  show(<Compose />, { at: `/w/${HOME}/compose?account=bluesky&at=2026-10-24T07:00:00Z` });
  expect(((await screen.findByLabelText("Text")) as HTMLTextAreaElement).value).toBe("Oboe");
  await waitFor(() => expect(readKept(HOME, null)?.content.places).toEqual([{ account_id: "bluesky" }]));
  await waitFor(async () => {
    const acts = (await writes()).filter(({ path }) => path.endsWith("/posts/compose")).map(({ body }) => body as { accounts: unknown; at: string });
    expect(acts.at(-1)).toMatchObject({ accounts: [{ account_id: "bluesky" }], at: "2026-10-24T07:00:00Z" });
  });
});

it("disables sending with the reason where a network would refuse the words", async () => {
  localStorage.setItem(`cadenza.composer.${HOME}.new`, JSON.stringify({ content: { ...empty, text: "Oboe", places: [{ account_id: "mastodon" }, { account_id: "bluesky" }] }, revision: null, at: "2026-10-21T07:00:00Z" }));
  const went = (account_id: string) => ({ account_id, channel: account_id, outcome: "queued", at: "2030-10-24T07:00:00Z", zone: "UTC", by_hand: false, says: null, warnings: [] });
  const preview = (account_id: string, problems: object[]) => ({ account_id, provider: account_id, channel: account_id, handle: `@${account_id}`, text: "Oboe", media: [], parts: [], problems, counts: [] });
  serve(({ url }) => {
    if (url.endsWith("/accounts")) return [account("mastodon"), account("bluesky")];
    if (url.includes("/posts/preview")) return [preview("mastodon", []), preview("bluesky", [{ code: "too_long", says: "It is too long.", blocking: true }])];
    if (url.includes("/compose")) return { post: { approved: true, blockers: [] }, places: [went("mastodon"), went("bluesky")] };
    return [];
  });
  show(<Compose />, { at: `/w/${HOME}/compose` });
  const alert = await screen.findByText("This can't be sent yet");
  expect(alert.closest("[role=status]")?.textContent).toContain("@bluesky (Bluesky): It is too long.");
  const button = screen.getByRole("button", { name: "Add to queue" }) as HTMLButtonElement; // no time is promised
  expect(button.disabled).toBe(true);
});
