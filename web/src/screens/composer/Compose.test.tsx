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
