import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";

import { show } from "../test/stage";
import { Paged, usePages } from "./Paged";
import { t } from "../messages/ui";

type Read = (cursor: string | undefined) => Promise<{ items: string[]; next: string | null }>;

function Names({ read }: { read: Read }) {
  const pages = usePages<string, string>(["names"], read);
  return (
    <Paged pages={pages} empty="Nobody is here.">
      {(rows) => rows.join(", ")}
    </Paged>
  );
}

it("reads on from where the last part ended, until there is no more", async () => {
  const read = vi.fn<Read>(async (cursor) => (cursor === undefined ? { items: ["Ada"], next: "after-ada" } : { items: ["Ben", "Cy"], next: null }));
  show(<Names read={read} />);
  await screen.findByText("Ada");
  await userEvent.click(screen.getByRole("button", { name: t("showOlder") }));
  await screen.findByText("Ada, Ben, Cy");
  expect(read.mock.calls.map(([cursor]) => cursor)).toEqual([undefined, "after-ada"]);
  expect(screen.queryByRole("button", { name: t("showOlder") })).toBeNull();
});

it("says that there is nothing, and not before it is known", async () => {
  let tell: (found: Awaited<ReturnType<Read>>) => void = () => undefined;
  show(<Names read={() => new Promise((done) => (tell = done))} />);
  await screen.findByRole("status", { name: t("loading") });
  expect(screen.queryByText("Nobody is here.")).toBeNull();
  tell({ items: [], next: null });
  await screen.findByText("Nobody is here.");
});

it("says why it cannot be read, and reads again at a press", async () => {
  const read = vi.fn<Read>().mockRejectedValueOnce(new Error("The line is down.")).mockResolvedValue({ items: ["Ada"], next: null });
  show(<Names read={read} />);
  await screen.findByText("The line is down.");
  await userEvent.click(screen.getByRole("button", { name: t("tryAgain") }));
  await screen.findByText("Ada");
});
