import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";

import { serve, writes } from "../../test/server";
import { account, HOME, show } from "../../test/stage";
import Compose from "./Compose";
import { empty } from "./content";
import { readKept } from "./keepLocally";
import { t } from "../../messages/composer";

it("puts kept text where the chosen slot is, not where it was meant to go before", async () => {
  const kept = { content: { ...empty, text: "Oboe", places: [{ account_id: "mastodon" }] }, revision: null, at: "2026-10-21T07:00:00Z" };
  localStorage.setItem(`cadenza.composer.${HOME}.new`, JSON.stringify(kept));
  serve(({ method, url }) => (method === "GET" && url.endsWith("/accounts") ? [account("mastodon"), account("bluesky")] : url.includes("/compose") ? { post: { approved: true, blockers: [] }, places: [] } : []));
  show(<Compose />, { at: `/w/${HOME}/compose?account=bluesky&at=2026-10-24T07:00:00Z` });
  expect(((await screen.findByLabelText(t("text"))) as HTMLTextAreaElement).value).toBe("Oboe");
  await waitFor(() => expect(readKept(HOME, null)?.content.places).toEqual([{ account_id: "bluesky" }]));
  await waitFor(async () => {
    const acts = (await writes()).filter(({ path }) => path.endsWith("/posts/compose")).map(({ body }) => body as { accounts: unknown; at: string });
    expect(acts.at(-1)).toMatchObject({ accounts: [{ account_id: "bluesky" }], at: "2026-10-24T07:00:00Z" });
  });
});

it("disables sending with the reason where a network would refuse the words", async () => {
  localStorage.setItem(`cadenza.composer.${HOME}.new`, JSON.stringify({ content: { ...empty, text: "Oboe", places: [{ account_id: "mastodon" }, { account_id: "bluesky" }] }, revision: null, at: "2026-10-21T07:00:00Z" }));
  const went = (account_id: string) => ({ account_id, channel: account_id, outcome: "queued", at: "2030-10-24T07:00:00Z", zone: "UTC", by_hand: false, message: null, warnings: [] });
  const preview = (account_id: string, problems: object[]) => ({ account_id, provider: account_id, channel: account_id, handle: `@${account_id}`, text: "Oboe", media: [], fitted: [], parts: [], problems, counts: [] });
  serve(({ url }) => {
    if (url.endsWith("/accounts")) return [account("mastodon"), account("bluesky")];
    if (url.includes("/posts/preview")) return [preview("mastodon", []), preview("bluesky", [{ code: "too_long", message: "It is too long.", blocking: true }])];
    if (url.includes("/compose")) return { post: { approved: true, blockers: [] }, places: [went("mastodon"), went("bluesky")] };
    return [];
  });
  show(<Compose />, { at: `/w/${HOME}/compose` });
  const alert = await screen.findByText(t("thisCantBeSentYet"));
  expect(alert.closest("[role=status]")?.textContent).toContain("@bluesky (Bluesky): It is too long.");
  const button = screen.getByRole("button", { name: t("addToQueue") }) as HTMLButtonElement; // no time is promised
  expect(button.disabled).toBe(true);
});

it("shows a picture as the network gets it, and says what was done to it", async () => {
  localStorage.setItem(`cadenza.composer.${HOME}.new`, JSON.stringify({ content: { ...empty, text: "Oboe", places: [{ account_id: "bluesky" }] }, revision: null, at: "2026-10-21T07:00:00Z" }));
  const message = "sea.png: converted to JPEG, 2.7 MB → 1.9 MB.";
  const fitted = [{ media_id: "m1", message, mime: "image/jpeg", size: 1_900_000, width: 1000, height: 900, file_url: `/api/v1/workspaces/${HOME}/media/m1/fitted/jpeg-2000000-0-0` }];
  const preview = { account_id: "bluesky", provider: "bluesky", channel: "bluesky", handle: "@bluesky", text: "Oboe", media: [{ id: "m1", alt: "The sea" }], fitted, parts: [], part_lengths: [], problems: [{ code: "media_fitted", message, field: "media", blocking: false }] };
  serve(({ url }) => {
    if (url.endsWith("/accounts")) return [account("bluesky")];
    if (url.includes("/posts/preview")) return [preview];
    if (url.includes("/compose")) return { post: { approved: true, blockers: [] }, places: [] };
    return [];
  });
  show(<Compose />, { at: `/w/${HOME}/compose` });
  expect(await screen.findAllByText(message)).toHaveLength(1);
  const picture = await screen.findByRole("img", { name: "The sea" });
  expect(picture.getAttribute("src")).toBe(fitted[0]?.file_url);
  expect(screen.queryByText(t("worthChecking"))).toBeNull();
});
