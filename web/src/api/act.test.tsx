import { useQuery } from "@tanstack/react-query";
import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";

import { asked, refuse, serve } from "../test/server";
import { HOME, show } from "../test/stage";
import { useAct } from "./act";
import { api, take } from "./client";
import type { About } from "./touches";

const shown = ["queue", "posts", "accounts", "members", "keys", "jobs", "workspace"];
const reads = () => asked.filter(({ method }) => method === "GET").map(({ url }) => new URL(url).pathname.slice(1));

/** A screen that shows something of everything, and a button. */
function Screen({ about }: { about: About | (() => About) }) {
  const read = async (name: string) => (await fetch(`/${name}`)).text();
  for (const name of shown) useQuery({ queryKey: [HOME, name], queryFn: () => read(name) }); // a constant list: the same hooks each time
  const sign = useAct(about, () => take(api.POST("/api/v1/auth/sign-out")), { done: () => "Done." });
  return <button onClick={() => sign.mutate()}>Act</button>;
}

async function act(about: About | (() => About)) {
  show(<Screen about={about} />);
  await waitFor(() => expect(reads()).toHaveLength(shown.length));
  asked.length = 0;
  await userEvent.click(screen.getByRole("button", { name: "Act" }));
}

it.each<[About | (() => About), string[]]>([
  ["key", ["keys"]],
  ["queue", ["accounts", "posts", "queue"]],
  ["job", ["jobs"]],
  ["me", []],
  ["workspace", shown],
  [() => "member", ["members"]],
])("reads again what an act about %s touched, and nothing else", async (about, touched) => {
  serve(() => ({}));
  await act(about);
  await screen.findByText("Done.");
  await waitFor(() => expect(reads().toSorted()).toEqual(touched.toSorted()));
});

it("sends one act for two clicks without a pause, and another after the first is answered", async () => {
  let answer = (_: unknown) => {};
  serve(({ method }) => (method === "GET" ? {} : new Promise((done) => (answer = done))));
  show(<Screen about="me" />);
  const button = screen.getByRole("button", { name: "Act" });
  button.click();
  button.click();
  const posts = () => asked.filter(({ method }) => method === "POST").length;
  await waitFor(() => expect(posts()).toBe(1));
  answer({});
  await screen.findByText("Done.");
  button.click();
  await waitFor(() => expect(posts()).toBe(2));
});

it("reads the same again after a refusal: what was shown may be why", async () => {
  serve(({ method }) => (method === "GET" ? {} : refuse(409, "changed", "Somebody changed it.")));
  await act("key");
  await waitFor(() => expect(reads()).toEqual(["keys"]));
});
