import { screen } from "@testing-library/react";
import { expect, it } from "vitest";

import type { Schemas } from "../../api/client";
import { serve } from "../../test/server";
import { HOME, show } from "../../test/stage";
import { PostList } from "./PostList";

const post = (id: string, blockers: string[]) =>
  ({ id, title: id, text: "", state: "draft", approved: false, source: "rule", revision: 1, blockers, labels: [], pills: [] }) as unknown as Schemas["PostView"];

it("offers to approve what is whole, and to complete what is not", async () => {
  serve(() => ({ items: [post("Oboe", []), post("Horn", ["needs copy"]), post("Harp", ["needs media"])], next: null }));
  show(<PostList />, { at: `/w/${HOME}/drafts` });
  expect(await screen.findByRole("button", { name: "Approve: Oboe" })).toBeTruthy();
  expect(screen.getAllByRole("button", { name: /^Approve/ })).toHaveLength(1);
  expect(screen.getByRole("link", { name: "Write the text: Horn" }).getAttribute("href")).toBe(`/w/${HOME}/compose/Horn`);
  expect(screen.getByRole("link", { name: "Add an image: Harp" }).getAttribute("href")).toBe(`/w/${HOME}/compose/Harp`);
  // Nobody can choose for an approval what would be refused.
  expect(screen.getAllByRole("checkbox").map((each) => each.getAttribute("aria-label"))).toEqual([null, "Select: Oboe"]);
});
