import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";

import { show } from "../test/stage";
import { tellDone, tellProblem } from "../ui/tell";

it("takes the newest word away at Escape, and the one before it at the next", async () => {
  show(<p>A screen</p>);
  act(() => {
    tellDone("Saved.");
    tellProblem(new Error("The slot is taken."), "Not moved");
  });
  await screen.findByText("The slot is taken.");
  await userEvent.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByText("The slot is taken.")).toBeNull());
  expect(screen.getByText("Saved.")).toBeTruthy();
  await userEvent.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByText("Saved.")).toBeNull());
});

it("leaves Escape to a dialog that is open", async () => {
  show(
    <>
      <p>A screen</p>
      <div role="dialog">A question</div>
    </>,
  );
  act(() => tellProblem(new Error("The slot is taken.")));
  await screen.findByText("The slot is taken.");
  await userEvent.keyboard("{Escape}");
  expect(screen.getByText("The slot is taken.")).toBeTruthy();
});
